"""The first month of the demo: people arrive, habits and runbooks are told."""

# Dialogue is written as it is spoken, one line a turn.
# ruff: noqa: E501

from __future__ import annotations

from junior_memory.demo.cast import (
    DESIGN,
    ENGINEERING,
    HANA_DM,
    MARA_DM,
    MARA_WEB,
    PARTNERS,
    RELEASE,
    SUPPORT,
    TEO_DM,
    TEO_MAIL,
    failed,
    hana,
    mara,
    mara_web,
    ole,
    ran,
    teo,
    teo_mail,
    tern,
    told,
)

CONVERSATIONS = (
    told(
        -89,
        "08:12",
        "mara-hello",
        MARA_DM,
        mara,
        mara.says(
            "Morning, tern. First day with you, so a bit about me: I'm the backend lead for Ferrywise and I work from Hamburg."
        ),
        tern("Good morning, Mara. How do you like your answers?"),
        mara.says(
            "I prefer short answers with the code first. I use Neovim for everything, and my laptop runs Fedora."
        ),
        tern("Code first, few words. Noted."),
        mara.says(
            "I never read messages in the evening. I'm usually at choir practice or asleep by then."
        ),
    ),
    told(
        -88,
        "09:40",
        "eng-hotfix-runbook",
        ENGINEERING,
        mara,
        mara.says(
            "Let me write the hotfix routine down once. For a hotfix, branch from release/current, never from main."
        ),
        hana.says("And the tag? I always get that one wrong."),
        mara.says(
            "For a hotfix tag, append .h1, .h2 and so on to the release number. We merge every hotfix back into main on the same day."
        ),
        tern("So: branch from release/current, tag with .h1, merge back into main the same day."),
        teo.says("Thank you, that would have saved me in August."),
    ),
    told(
        -87,
        "10:05",
        "teo-hello",
        TEO_DM,
        teo,
        teo.says("Hola tern! I'm Teo, I run support and onboarding, and I'm based in Valencia."),
        tern("Hola Teo. In which language shall we talk?"),
        teo.says(
            "I prefer answers in Spanish when it's just the two of us. Prefiero frases cortas, por favor."
        ),
        tern("Claro, en español y con frases cortas."),
        teo.says(
            "One more thing: I'm allergic to hazelnuts. Please keep that in mind when you plan team lunches."
        ),
    ),
    told(
        -86,
        "13:20",
        "hana-hello",
        HANA_DM,
        hana,
        hana.says("Hi, Hana here. I'm a product designer and I do most of our frontend CSS too."),
        tern("Nice to meet you, Hana. Anything I should know about how you work?"),
        hana.says(
            "I live in Matsuyama. I love dark mode and I can't stand pure black backgrounds."
        ),
        hana.says(
            "私は朝型です。I do my best work before ten, so I keep my mornings free of meetings."
        ),
        tern("Understood. おはようございます in advance."),
    ),
    told(
        -85,
        "11:31",
        "release-rhythm",
        RELEASE,
        mara,
        teo.says("When does the next version go out? A customer asks."),
        mara.says(
            "We cut the release branch every Tuesday at noon and ship on Thursday morning. Our release notes live in docs/releases, one file per version."
        ),
        tern("Tuesday noon the branch, Thursday morning the release."),
        mara.says(
            "Nobody ships on a Friday. That is a rule, not a mood: our operators have their busiest boats on Friday evening."
        ),
        teo.says("Perfect, I'll tell them Thursday."),
    ),
    told(
        -84,
        "14:48",
        "mara-timetable-import",
        MARA_WEB,
        mara_web,
        mara_web.says("The import of the winter timetable fails again. Have a look at the log?"),
        failed("run_import", "FW-1207: departure before arrival in row 311 (file nordhafen.csv)"),
        tern("Row 311 has a departure before its arrival."),
        mara_web.says(
            "Ah, that one. FW-1207 means the operator's file mixes winter and summer time. For FW-1207, set the zone column to Europe/Berlin and run the import again with --strict."
        ),
        ran(
            "run_import",
            "Import finished: 412 rows, 0 rejected. The importer reads time zones from the zone column only.",
        ),
        tern("It went through with 412 rows."),
        mara_web.says("I always run imports with --strict on staging first."),
    ),
    told(
        -83,
        "09:03",
        "teo-small-talk",
        TEO_DM,
        teo,
        teo.says("Buenos días! Did you survive Monday?"),
        tern("Barely. And you?"),
        teo.says("Jaja, same. Can you tell me what the weather does in Valencia today?"),
        ran("weather", "Valencia: 27 degrees, sunny, wind 3 knots."),
        tern("Sunny, 27 degrees."),
    ),
    told(
        -82,
        "15:10",
        "support-hours",
        SUPPORT,
        teo,
        teo.says(
            "Something for the handbook. Our support desk is open from Monday to Saturday, eight to six, Valencia time."
        ),
        mara.says("And who answers on Sunday?"),
        teo.says(
            "On Sundays the on-call engineer takes urgent tickets only. For an urgent ticket, page the on-call engineer first and write the ticket afterwards."
        ),
        tern("Sundays: urgent tickets only, page first."),
        teo.says("We answer harbour staff first and everyone else on the same day."),
    ),
    told(
        -81,
        "07:55",
        "design-tokens",
        DESIGN,
        hana,
        hana.says(
            "Our design tokens live in packages/tokens, and every color has a light and a dark value."
        ),
        mara.says("Do I edit the CSS or the JSON?"),
        hana.says(
            "For a new color, edit tokens.json and run make tokens; never touch the generated CSS. We name colors after things at the coast, like kelp, foam and buoy."
        ),
        tern("Edit tokens.json, run make tokens, coastal names."),
        mara.says("Love it. Buoy is the orange one, I take it?"),
        hana.says("Of course it is."),
    ),
    told(
        -80,
        "16:22",
        "mara-review-habits",
        MARA_DM,
        mara,
        mara.says("Can you list the open pull requests?"),
        ran("list_pull_requests", "7 open: #812, #815, #816, #820, #821, #823, #824"),
        tern("Seven are open; the oldest is #812."),
        mara.says(
            "I review pull requests right after lunch, never in the evening. I like small pull requests, under 300 lines, with a test that failed before."
        ),
        tern("I will order them by size."),
        mara.says(
            "I prefer tabs in Go and four spaces in Python, and I never squash commits that tell a story."
        ),
    ),
    told(
        -79,
        "10:44",
        "partners-norderoog",
        PARTNERS,
        teo,
        teo.says(
            "Welcome Ole from Norderoog Ferries! This channel is for harbour partners. We answer partner questions on weekdays only."
        ),
        ole.says(
            "Moin! Our boats to Norderoog sail only at high water, so our timetable changes every day."
        ),
        tern("Welcome, Ole. Tidal timetables are supported."),
        ole.says(
            "Good. The pier at Norderoog closes at wind force nine. Our crew speaks Frisian and German."
        ),
        teo.says(
            "Tidal operators upload their file on the first of each month. Our partner guide is at docs.saltmarsh.example/partners."
        ),
    ),
    told(
        -78,
        "12:30",
        "hana-food",
        HANA_DM,
        hana,
        hana.says(
            "I'm planning the team lunch for the offsite. I don't eat shellfish. Ironic for a ferry company, I know."
        ),
        tern("Very ironic. Any place in mind?"),
        hana.says("I love small soba places. My favourite tea is hojicha and I drink it all day."),
        tern("Soba and hojicha it is."),
        hana.says("I collect old harbour maps. A paper shop nearby would be a bonus."),
    ),
    told(
        -77,
        "09:28",
        "eng-staging",
        ENGINEERING,
        mara,
        hana.says("Which address is staging? I keep looking at the wrong one."),
        mara.says(
            "Staging runs at staging.ferrywise.example and is rebuilt every night at two. Our staging database is a masked copy of production, so never store real customer names there."
        ),
        hana.says("And demo.ferrywise.example?"),
        mara.says(
            "The demo site belongs to sales. For access to staging, ask in #engineering and name the reason."
        ),
        tern("Staging is rebuilt nightly from a masked copy."),
    ),
    told(
        -76,
        "11:17",
        "mara-pasted-token",
        MARA_WEB,
        mara_web,
        mara_web.says(
            "Why does this fail? curl -H 'Authorization: Bearer "
            + "gh"
            + "p_"
            + "w8Kq2Zr5Tn9Lx4Vb7Mc1Hd6Js3Gf0Pa8Ye2"
            + "' https://api.example.com/repos"
        ),
        tern("Mara, that looks like a live token. Please revoke it."),
        mara_web.says(
            "Ugh, yes. Revoked. I keep tokens in pass and never in my shell history, usually."
        ),
        tern("It happens. The 401 came from a missing scope."),
        mara_web.says(
            "For a new API token, use the deploy account and give it the read scope only."
        ),
    ),
    told(
        -75,
        "08:31",
        "teo-mail-refunds",
        TEO_MAIL,
        teo_mail,
        teo_mail.says(
            "Hi tern, please draft an answer to the family who missed the last boat. For refunds after a missed connection, check the operator's contract first, then refund the whole trip within five days."
        ),
        tern("Dear Ms. Hallberg, we are sorry that you missed the last boat…"),
        teo_mail.says(
            "Good. I always sign customer mail with my first name. I never use exclamation marks in refund letters."
        ),
        tern("Changed: no exclamation marks, signed Teo."),
    ),
    told(
        -74,
        "14:02",
        "release-checklist",
        RELEASE,
        hana,
        hana.says(
            "We take screenshots of the booking page before every release, one narrow and one wide. I post them here."
        ),
        mara.says(
            "Good. Before a release, run make smoke against staging and wait for the green harbour light."
        ),
        tern("What is the harbour light?"),
        mara.says(
            "The harbour light is our status page for operators; it turns green when every feed is younger than ten minutes."
        ),
        teo.says("Our operators look at the harbour light more than at our mails."),
    ),
    told(
        -73,
        "17:05",
        "mara-choir",
        MARA_DM,
        mara,
        mara.says("I have to leave on time on Wednesdays, I sing alto in a choir in Altona."),
        tern("I will keep Wednesday evenings free."),
        mara.says("I play the accordion. Not for the company newsletter, please."),
        tern("Your secret is safe with the bellows."),
        mara.says("My sister Signe lives in Umeå and I visit her every midsummer."),
    ),
    told(
        -72,
        "09:50",
        "support-macros",
        SUPPORT,
        teo,
        teo.says(
            "We keep our support macros in the handbook under Replies, one per language. For a delayed boat, send the macro 'late-boat' and add the new departure time by hand."
        ),
        hana.says("ドイツ語のマクロもありますか? Do we have them in Japanese?"),
        teo.says("Not yet. We have support macros in English, German and Spanish."),
        tern("Three languages today."),
        hana.says("I can write the Japanese ones. We answer Seto Lines in Japanese only."),
    ),
    told(
        -70,
        "10:26",
        "hana-figma-habits",
        HANA_DM,
        hana,
        hana.says(
            "Could you rename the frames in the booking file? I always name frames by screen and width."
        ),
        ran("rename_frames", "31 frames renamed."),
        tern("Done, 31 frames."),
        hana.says(
            "I prefer feedback as a list, most important point first. I hate voice messages. Please always write."
        ),
        hana.says("I see my therapy group on Thursdays at five, so no calls then."),
        tern("A list, in writing, and nothing on Thursdays at five."),
    ),
    told(
        -68,
        "13:37",
        "eng-on-call",
        ENGINEERING,
        teo,
        teo.says("Who is on call and how does it rotate? I want to write it in the handbook."),
        mara.says(
            "Our on-call shift changes every Monday at 10:00. The on-call phone lives in the drawer under the printer, and its number is in the handbook."
        ),
        mara.says(
            "For an incident, open a thread in #engineering, name one person who leads, and post an update every thirty minutes."
        ),
        tern("Monday at ten, one lead, updates every thirty minutes."),
        teo.says(
            "We write a short review within three days of every incident, without blaming anyone."
        ),
    ),
    told(
        -66,
        "08:20",
        "teo-calendar",
        TEO_DM,
        teo,
        teo.says("Buenas. I take Portuguese lessons on Tuesday afternoons. No calls then, please."),
        tern("Anotado: martes por la tarde, libre."),
        teo.says(
            "I hate back-to-back meetings; I always want fifteen minutes between two calls. I cycle to the office, so rain makes me late."
        ),
        tern("Fifteen minutes between calls. Y cuidado con la lluvia."),
    ),
    told(
        -64,
        "15:41",
        "partners-tides",
        PARTNERS,
        ole,
        ole.says(
            "A note about our files. For tide tables, take the ones from the hydrographic office in Hamburg and shift them from UTC."
        ),
        teo.says(
            "We expect all partner files in local time with a zone column. For tidal routes, upload the file as tides.csv and leave the weekday column empty."
        ),
        tern("Local time, a zone column, tides.csv."),
        ole.says(
            "Alright. For questions in February, write to the harbour office, because our own office is closed."
        ),
    ),
)
