"""The third month of the demo: corrections, incidents, and a fact that was forgotten is said again."""

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
        -28,
        "08:40",
        "teo-headphones",
        TEO_DM,
        teo,
        teo.says("I work from the library on Mondays. Only chat then, please."),
        tern("Mondays: chat only."),
        teo.says(
            "I use a standing desk and I take a walk at three every day. I always keep my phone on silent."
        ),
        tern("Then I will write rather than ring."),
    ),
    told(
        -27,
        "14:55",
        "design-accessibility",
        DESIGN,
        hana,
        hana.says(
            "Our contrast minimum is 4.5 to 1, also for disabled buttons. We test every page with a keyboard before it ships."
        ),
        mara.says("Is there a command for it?"),
        hana.says(
            "For an accessibility check, run make axe and then walk the page with Tab once by hand."
        ),
        tern("make axe, then Tab by hand."),
        teo.says("Our harbour staff wear gloves in winter, so big buttons are welcome."),
    ),
    told(
        -26,
        "09:36",
        "mara-helix",
        MARA_WEB,
        mara_web,
        mara_web.says("I moved from Neovim to Helix, so give me Helix commands from now on."),
        tern("Select first, then act. Got it."),
        mara_web.says("I use fish as my shell and I keep my dotfiles in a private repository."),
        mara_web.says("I like my terminal with a light theme before noon, strange as that is."),
        tern("Not strange at all; the sun agrees."),
    ),
    told(
        -24,
        "11:20",
        "support-card-number",
        SUPPORT,
        teo,
        teo.says(
            "A customer wrote this in the chat: my card is "
            + "4111 1111"
            + " 1111 1111"
            + ", please book it again. What do I do with it?"
        ),
        tern("Remove it from the ticket and ask them to pay through the link."),
        teo.says(
            "For a card number in a ticket, delete the message, not only the number, and send the payment link."
        ),
        mara.says("We never store what people pay with; the payment provider does that."),
        tern("Delete the message, send the link."),
    ),
    told(
        -23,
        "10:01",
        "teo-mail-school-groups",
        TEO_MAIL,
        teo_mail,
        teo_mail.says(
            "Please offer the school in Dénia a group price. School groups of twenty or more travel at half price from Monday to Thursday."
        ),
        tern("Estimada directora: con mucho gusto les ofrecemos…"),
        teo_mail.says(
            "Good. For school groups, ask for a contact phone and the number of wheelchairs."
        ),
        teo_mail.says("I always put the price in the first line of an offer."),
    ),
    told(
        -21,
        "15:30",
        "eng-incident-tides",
        ENGINEERING,
        mara,
        teo.says("Norderoog shows boats at low water again!"),
        mara.says("I see it. The tide job stopped because the disk of the feed box was full."),
        ran(
            "restart_job",
            "tide-sync restarted; 214 departures corrected. The tide job writes its temporary files to /var/tides.",
        ),
        tern("The tide job runs again."),
        mara.says(
            "For a stopped tide job, clear /var/tides, restart tide-sync and check one departure by hand. We keep /var/tides on its own disk from now on."
        ),
        teo.says("Norderoog is correct again, thank you both."),
    ),
    told(
        -20,
        "09:05",
        "hana-mornings",
        HANA_DM,
        hana,
        hana.says(
            "I no longer keep my mornings free. I take meetings until eleven so that Mara is not alone at night."
        ),
        tern("Meetings until eleven are fine, then."),
        hana.says("I prefer long meetings to short ones. I always take notes on paper."),
        tern("One long one. Paper welcome."),
    ),
    told(
        -19,
        "12:45",
        "partners-cars",
        PARTNERS,
        ole,
        ole.says(
            "For a trip with a car to Norderoog, ask the harbour master for a permit two days before."
        ),
        teo.says(
            "We show a permit notice for every route where the field permit is set. For a permit route, set permit=yes in routes.csv."
        ),
        tern("permit=yes in routes.csv."),
        ole.says(
            "Wonderful. For residents of the island, print the permit on the ticket, it costs nothing."
        ),
    ),
    told(
        -17,
        "13:11",
        "teo-hazelnuts-again",
        TEO_DM,
        teo,
        teo.says("About the Christmas lunch. I'm allergic to hazelnuts. No nougat, please."),
        tern("No nougat."),
        teo.says("I love the rice place by the harbour, and I never drink at lunch."),
        tern("I will suggest the rice place."),
    ),
    told(
        -16,
        "10:29",
        "release-notes-style",
        RELEASE,
        hana,
        hana.says(
            "We write release notes for the harbour, not for ourselves: one sentence per change, no ticket numbers."
        ),
        mara.says("And the internal list?"),
        hana.says(
            "For internal changes, add a line to CHANGES.md under 'Below deck'. Our release notes go out in four languages since October."
        ),
        tern("One sentence per change; internal ones go below deck."),
        teo.says("We translate them on the day before the release."),
    ),
    told(
        -15,
        "16:03",
        "mara-explicit-memory",
        MARA_WEB,
        mara_web,
        mara_web.says(
            "Remember that I'm on parental leave cover for the data team every second Tuesday."
        ),
        ran("createMemory", '{"target": "memory", "created": true}'),
        tern("Remembered."),
        mara_web.says("Danke dir."),
    ),
    told(
        -14,
        "09:47",
        "eng-api-versions",
        ENGINEERING,
        teo,
        teo.says("Illes Ferries still calls the old API. How long does it live?"),
        mara.says(
            "We keep an API version for twelve months after its successor ships. Version 3 of our API ends on 31 March 2027."
        ),
        mara.says(
            "To move a partner to version 4, send them the guide and switch their key in the partner console."
        ),
        tern("Version 3 ends on 31 March 2027."),
        teo.says("I'll call them, they like calls."),
    ),
    told(
        -13,
        "08:22",
        "hana-german-lesson",
        HANA_DM,
        hana,
        hana.says(
            "I'm learning German with an app, so please add one German word to each greeting."
        ),
        tern("Guten Morgen, Hana. Today's word: die Fähre."),
        hana.says("Die Fähre! I like that one. My German teacher says I should speak more."),
        tern("Sehr gerne."),
    ),
    told(
        -12,
        "10:18",
        "mara-moves",
        MARA_DM,
        mara,
        mara.says("I moved to Flensburg last week, so I no longer work from Hamburg."),
        tern("Congratulations! A room with a view of the fjord?"),
        mara.says(
            "Fast. Ich wohne jetzt direkt am Hafen und arbeite freitags von zu Hause. I go swimming in the fjord before work."
        ),
        tern("Brave. I will remember to ask about the water."),
        mara.says("I sing in a new choir on Mondays, so Wednesdays are free again."),
    ),
    told(
        -11,
        "14:36",
        "support-japanese",
        SUPPORT,
        hana,
        hana.says(
            "The Japanese macros are done. We have support macros in English, German, Spanish and Japanese."
        ),
        teo.says("ありがとう, Hana! And who answers when Seto Lines writes at night?"),
        hana.says(
            "For a ticket from Seto Lines, answer in Japanese and keep it under ten lines. 緊急の場合は電話してください。"
        ),
        tern("In Japanese, under ten lines."),
        teo.says("We close a ticket only when the customer says so."),
    ),
    told(
        -10,
        "09:12",
        "teo-task-list",
        TEO_DM,
        teo,
        teo.says(
            "Remind me to call the dentist at four, and what was the ticket number from this morning?"
        ),
        ran("find_ticket", "SUP-20871, opened 08:51, status waiting"),
        tern("SUP-20871. I'll remind you at four."),
        teo.says("Thanks! Could you also check whether the Dénia boat is late?"),
        failed("boat_position", "AIS feed timed out after 5 s"),
        tern("I can't see the boat right now."),
    ),
    told(
        -9,
        "17:20",
        "mara-accordion-again",
        MARA_DM,
        mara,
        mara.says("I play the accordion. The whole stairwell has noticed by now."),
        tern("The fjord carries sound."),
        mara.says(
            "I bought a mute pad for it. My neighbours are retired sailors and very patient."
        ),
        tern("Patient sailors are the best kind."),
    ),
    told(
        -8,
        "11:02",
        "design-motion",
        DESIGN,
        hana,
        hana.says(
            "We keep animations short and switch them off for people who ask for less motion."
        ),
        mara.says("Where do the values live?"),
        hana.says(
            "Motion values live in tokens.json under motion. For a new animation, reuse wave-short or wave-long before you add another."
        ),
        tern("wave-short or wave-long first."),
        hana.says("Our loading state is a small tide line, not a spinner."),
    ),
    told(
        -7,
        "10:40",
        "eng-keys-by-mistake",
        ENGINEERING,
        teo,
        teo.says(
            "The export job says access denied. I gave it AWS_ACCESS_KEY_ID="
            + "AK"
            + "IA"
            + "R7TIDEBUOY4KELP2"
            + " as the wiki says."
        ),
        mara.says("Teo! Please don't paste keys. I'll rotate it."),
        teo.says("Lo siento, lo siento."),
        mara.says(
            "For the export job, use the role ferrywise-export; it needs no key at all. We rotate every key that was ever pasted in a chat."
        ),
        tern("Role ferrywise-export, no key."),
    ),
    told(
        -6,
        "08:58",
        "teo-no-meetings",
        TEO_DM,
        teo,
        teo.says(
            "My Portuguese class moved. I take Portuguese lessons on Thursday evenings, so Tuesday afternoons are free again."
        ),
        tern("Thursdays it is."),
        teo.says(
            "I start work an hour earlier because my son walks to school by himself. I prefer calls before noon."
        ),
        tern("Calls before noon, noted."),
    ),
    told(
        -5,
        "13:50",
        "partners-app",
        PARTNERS,
        hana,
        hana.says(
            "The partner app shows tides as a blue band behind the timetable. We update the partner app on the first Monday of each month."
        ),
        ole.says("My crews use the app on old tablets with Android 9."),
        hana.says("We support Android 9 and newer until the end of 2027."),
        tern("Android 9 stays supported until the end of 2027."),
    ),
    told(
        -4,
        "09:31",
        "release-harbour-light",
        RELEASE,
        mara,
        mara.says(
            "The harbour light has moved to light.ferrywise.example; the old address forwards for a year."
        ),
        teo.says("I'll tell the operators in Monday's mail."),
        mara.says("For a red light at night, call the operator's bridge number, not the office."),
        tern("At night: the bridge number."),
        hana.says("Our status colors got shapes as well, so nobody depends on red and green."),
    ),
    told(
        -3,
        "15:25",
        "hana-photo-archive",
        HANA_DM,
        hana,
        hana.says(
            "I sort the photo archive by harbour and season. I love film cameras and I scan every roll myself."
        ),
        tern("Shall I tag the new scans?"),
        hana.says(
            "Yes, please. I prefer tags in English and captions in Japanese. 写真は必ず私に確認してから公開してください。"
        ),
        tern("I will ask you before anything is published."),
    ),
    told(
        -2,
        "10:09",
        "mara-week-plan",
        MARA_WEB,
        mara_web,
        mara_web.says("What is left for 2026.11.3?"),
        ran("list_issues", "4 open for 2026.11.3: FW-2290, FW-2294, FW-2301, FW-2302"),
        tern("Four issues are open."),
        mara_web.says(
            "I plan my week on Monday mornings. I never move the plan before Wednesday. We keep Thursdays free for repairs."
        ),
        tern("Thursday stays free for repairs."),
    ),
    told(
        -1,
        "11:33",
        "teo-thanks",
        TEO_DM,
        teo,
        teo.says("You were really helpful this week, tern."),
        tern("Thank you, Teo. That is good to hear."),
        teo.says("See you tomorrow! 👋"),
    ),
)
