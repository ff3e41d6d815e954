"""Word lists of the extractor, by what they say about a sentence. Lower case, base forms unless
named otherwise.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIKING_VERBS = _words(
    "prefer love like enjoy hate dislike adore favor favour avoid value admire cherish "
    "detest loathe miss"
    " fear believe care crave despise treasure dig struggle suffer tend identify belong "
    "trust respect relish"
)
"""States of mind that last: what somebody likes, avoids, believes."""

BEING_VERBS = _words(
    "live work speak own teach study rent lease manage lead play drive use wear commute volunteer"
    " collect code program maintain run raise host practice practise support subscribe serve"
    " specialize specialise major come attend coach mentor tutor sing dance paint knit "
    "sew bake brew"
    " garden cook hike ski surf climb swim cycle bike meditate stream blog breed train "
    "hunt fish sketch"
    " draw compose weigh earn hold pray worship weave juggle code-review moonlight freelance"
)
"""What somebody is or regularly does, by the verb alone."""

HABIT_VERBS = _words(
    "do make go get take buy order meet spend help start finish keep write read walk "
    "test review deploy"
    " commit pay watch check eat drink sleep wake type listen follow exercise jog stay "
    "try travel shop"
    " turn set put bring call let share rely stick skip refuse insist begin hit plan "
    "visit save merge push"
    " write plan sort release ship squash rebase document log track schedule block relax "
    "unwind sit prep pack"
    " carry leave ride treat format lint name feel think look give have "
    "focus organize"
    " organise learn work hang cuddle camp grow create express celebrate donate join"
)
"""Verbs that state something durable only with a mark of habit: always, never, every, on Mondays.
"""

PLAIN_HABITS = _words(
    "write watch listen exercise walk visit organize organise grow create express "
    "celebrate donate travel"
    " carry share cook hang explore spend volunteer"
)
"""Present tenses that say what somebody does in general, when they say enough."""

DIET_VERBS = _words("eat drink smoke")
"""Habits in the present tense that need no further mark of habit."""

GOAL_VERBS = _words(
    "become be learn live move travel visit write start run own build help make buy "
    "study open climb keep"
    " improve get retire marry adopt raise play teach publish finish lose quit stop eat "
    "read create spread"
    " support give inspire grow join launch win work explore continue volunteer master "
    "pursue reach save"
    " earn share empower promote coach compete expand focus go take paint record perform "
    "cook attend"
    " train host develop design affect capture serve fight honor honour advocate change "
    "found organize organise stay reduce cut bring spend see meet do have put"
    " combine blend plant set graduate qualify compose tour stream collect renovate "
    "restore experience return"
)
"""What a wish or a plan may aim at and still be about the person, not about the task at hand."""

ONGOING_VERBS = _words(
    "learning studying training planning writing building saving living volunteering "
    "teaching raising"
    " expecting moving considering hoping reading practicing practising taking renovating restoring"
    " applying majoring leading managing mentoring coaching running making focusing "
    "preparing organizing"
    " organising starting going thinking looking trying working pursuing exploring recovering"
    " developing creating designing getting attending helping collecting growing raising "
    "doing playing"
    " dreaming aiming aspiring putting having meeting enjoying loving chasing fighting "
    "adjusting settling taking joining opening launching hosting marrying adopting "
    "researching"
    " brainstorming blogging painting interning freelancing retiring switching quitting "
    "giving seeing"
    " dating trying filming recording composing rehearsing hiking watching cooking baking"
)
"""Progressive forms that may state something that goes on for weeks or more."""

TASK_OBJECT_VERBS = _words(
    "order return rename format sort filter compare calculate draft copy paste plot "
    "summarize summarise"
    " translate rewrite refactor migrate clarify confirm discuss review report complain subscribe"
    " unsubscribe register sign pay transfer withdraw extract replace implement "
    "configure turn enable"
    " disable insert attach try wait verify double-check follow ping email message text "
    "schedule wrap hear"
    " fix debug solve understand reproduce find figure locate connect install compile "
    "log open access"
    " parse render call send upload download export import print query fetch remember decide check"
    " test deploy merge push update upgrade reset restart reach contact book schedule "
    "convert generate"
    " use see know add remove delete change ask say thank show talk tell cancel look"
)
"""What somebody does at the moment: after "trying to", "going to", "want to" it is a task."""

ENDEAVOUR_VERBS = _words(
    "lose quit learn eat become improve get cut save build reduce stay drink keep make "
    "stop be live help"
    " grow start exercise sleep read write follow raise balance adopt spend run balance "
    "focus push avoid"
    " create master teach find take recover relax"
)
"""What one tries over weeks: after "trying to" it says something about the person."""

WORK_STEP_VERBS = _words(
    "restarted rebooted installed reinstalled upgraded updated downloaded checked tested "
    "debugged reran"
    " rebased searched googled asked replied noticed clicked submitted uploaded attached "
    "pasted forwarded"
    " emailed pinged messaged opened closed reopened refactored cloned committed pushed "
    "merged deployed"
    " reverted configured enabled disabled renamed deleted removed added changed copied logged sent"
    " typed compiled reproduced reviewed rescheduled assigned escalated resolved exported imported"
    " verified confirmed booked ordered cancelled canceled called texted printed scheduled followed"
    " heard forgot misread misunderstood overslept slept woke napped ate drank showered"
    " thought knew guessed supposed wondered meant said told assumed expected figured hoped wished"
    " needed wanted could would should did understood wrote-up agreed appreciated"
)
"""Past forms that report a step of the work, a thought or a daily trifle: nothing to keep."""

NEW_ONLY_VERBS = _words("tried fixed saw looked watched read found received")
"""Past forms that report a personal event only outside of work."""

OPERATIONS = _words(
    "deploy deploys deployed deployment deployments deploying staging production prod "
    "branch branches repo"
    " repos repository repositories monorepo ci cd pipeline pipelines sprint sprints "
    "standup standups"
    " stand-up retro retros ticket tickets jira github gitlab bitbucket linear slack "
    "notion confluence figma bugs customers clients on-call oncall"
    " incident incidents postmortem postmortems database databases db postgres "
    "postgresql mysql redis kafka"
    " kubernetes k8s cluster clusters api apis endpoint endpoints migration migrations "
    "backup backups"
    " runbook runbooks wiki dashboard dashboards alerts alerting grafana sentry datadog "
    "prometheus payroll"
    " onboarding docker terraform ansible helm linter linters lint formatter build builds release"
    " releases tests server servers service services queue queues worker workers cron "
    "crons vpn dns schema"
    " schemas config configs hotfix hotfixes rollback rollbacks tags changelog pr prs merge merges"
    " commits commit logs logging secrets vault certificate certificates tls ssl webhook "
    "webhooks sdk cdn bucket"
    " buckets s3 aws gcp azure npm pypi pip registry codebase frontend backend main "
    "master trunk docs"
    " documentation invoices invoice expenses timesheets roadmap okrs fixtures snapshots "
    "metrics tracing"
    " environment environments env flag flags host hosts port domain cache warehouse billing"
    " checkout support escalations sla slas handover shift shifts rota rotation "
    "approvals approval reviewers"
    " reviewer review reviews code license licence budget budgets vendors vendor office "
    "handbook policy"
    " stage stages e2e tracker board kanban channel app website site"
)
"""What a team talks about when it states how it works. Not a sign of anything by itself."""

WORK_OBJECTS = _words(
    "deploy deployed deployment staging production prod branch repo repository ci "
    "pipeline ticket jira"
    " pr prs commit commits hotfix rollback migration backlog endpoint api logs log "
    "stacktrace exception"
    " exceptions error errors bug bugs spreadsheet csv pdf attachment inbox slides deck "
    "invoice query"
    " server servers script scripts config dockerfile container cluster docker traceback "
    "timeout 404 500 typo typos command commands"
    " 503 502 changelog database db schema json yaml sql regex unittest tests standup sprint"
    " builds lint linter login"
)
"""Things at hand in the work: an event or an activity about them passes with the task."""

OWN_WORK_NOUNS = _words(
    "test function script query report issue draft patch typo slide slides essay "
    "assignment homework exercise spreadsheet"
)
"""Names of things at hand, whoever's they are."""

WORK_NOUNS = _words(
    "build test function issue issues report draft table patch crash dashboard document "
    "code page project"
    " feature task request problem change changes update request"
)
"""Also names of things at hand, when an article or "this" stands before them."""

TEAM_ONLY = _words(
    "team company squad department org organisation organization colleagues startup "
    "agency firm studio"
)
"""Groups that "our" makes a shared matter."""

STATUS = _words(
    "down up red green broken failing slow failed blocked done ready closed merged "
    "finished stuck flaky"
    " offline online healthy unhealthy degraded passing running out late delayed overdue "
    "pending crashed back"
    " unavailable available in-progress live unstable fixed busy empty full missing "
    "wrong unreachable locked blocked disabled suspended frozen loading charging"
)
"""Words that give the state of something at one moment."""

NOW_PHRASES = (
    "right now",
    "at the moment",
    "as of now",
    "as of today",
    "for now",
    "just now",
    "this minute",
    "this second",
    "at present",
    "so far today",
    "tonight",
    "this morning",
    "this afternoon",
    "this evening",
    "in a minute",
    "in an hour",
    "in a bit",
    "later today",
    "earlier today",
    "today",
    "tomorrow",
    "asap",
    "by eod",
    "end of day",
    "until monday",
    "until tomorrow",
    "this week",
    "for the moment",
    "temporarily",
    "an hour ago",
    "minutes ago",
    "hours ago",
    "a minute ago",
)
"""Time of speaking: a state or a task that carries one is over soon."""

UNSURE_WORDS = _words(
    "maybe perhaps probably possibly might apparently supposedly unsure dunno presumably allegedly"
    " hypothetically conceivably idk guess suppose wonder"
)
"""Marks of speculation."""

TRANSIENT_STATES = _words(
    "tired busy hungry sick sorry sure glad happy sad here there back home done ready in "
    "out off late early"
    " stuck lost confused bored excited fine ok okay good great well able unable aware "
    "alone available free"
    " awake asleep thirsty cold hot warm drunk high upset angry mad annoyed frustrated "
    "worried nervous"
    " anxious stressed exhausted relieved surprised shocked curious thankful grateful "
    "pleased thrilled"
    " delighted stoked pumped psyched hyped amazed impressed touched honored honoured "
    "certain positive"
    " afraid-so about almost nearly currently feeling not just so too very really still "
    "getting having"
    " wondering asking waiting seeing using looking trying going running calling writing sending"
    " overwhelmed swamped flattered blessed lucky kidding joking serious right wrong "
    "behind over under"
)
"""States after "I am" that pass by themselves."""

DURABLE_STATES = _words(
    "allergic vegetarian vegan pescatarian left-handed right-handed lefthanded "
    "colorblind colourblind"
    " color-blind colour-blind dyslexic deaf blind married single divorced engaged "
    "retired pregnant bilingual"
    " trilingual lactose lactose-intolerant gluten-free gluten coeliac celiac diabetic "
    "asthmatic autistic gay"
    " lesbian bisexual bi trans transgender queer nonbinary non-binary religious "
    "introverted extroverted"
    " shy passionate fond keen scared terrified afraid interested based born originally "
    "from into responsible"
    " proud intolerant sensitive colour color fluent self-employed unemployed widowed "
    "adopted nearsighted"
    " farsighted short-sighted committed dedicated determined hooked addicted obsessed "
    "skeptical sceptical"
    " ambidextrous epileptic anemic sober insured nocturnal claustrophobic atheist agnostic"
    " jewish muslim christian catholic buddhist hindu motivated drawn partial averse opposed"
)
"""States after "I am" that stay true for long."""

PASSING_POSSESSIONS = _words(
    "question questions meeting meetings call calls deadline problem problems issue "
    "issues error errors idea"
    " ideas headache cold minute minutes bug bugs list file files csv dataset function "
    "class table script task"
    " tasks request feeling doubt doubts point look trouble hunch clue appointment "
    "interview exam presentation"
    " demo flight day bunch lot nothing something everything anything access hangover second sec"
    " moment break fever cough typo merge branch pr ticket tickets blast fun chance time "
    "concern concerns"
    " suggestion confession favor favour favorite-so update news plan plans nap shower "
    "sandwich pizza coffee lunch"
    " breakfast dinner dream thought thoughts conflict conflicts crash timeout "
    "spreadsheet report doc document"
    " draft slide slides email emails message messages good great nice wonderful hard "
    "tough rough few"
    " awesome amazing long busy crazy rough number string array json log logs thing "
    "things while laugh one"
)
"""What somebody has for a moment, or in the task at hand."""

FILLERS = _words(
    "just really actually definitely totally literally kinda sorta honestly basically "
    "simply absolutely"
    " certainly also truly even seriously obviously clearly personally quite pretty genuinely"
)
"""Adverbs before a verb that add nothing to the fact."""

KEPT_ADVERBS = _words(
    "always never usually often sometimes rarely mostly generally mainly typically "
    "normally regularly currently"
    " recently still already now only strongly hardly once occasionally finally seldom "
    "frequently primarily"
    " generally constantly consistently deliberately exclusively both all long "
    "originally mostly previously"
    " first eventually soon largely religiously strictly again ever"
)
"""Adverbs before a verb that belong to the fact."""

HABIT_ADVERBS = _words(
    "always never usually often sometimes rarely mostly generally mainly typically "
    "normally regularly only"
    " hardly occasionally seldom frequently primarily constantly consistently "
    "exclusively religiously strictly"
)
"""Adverbs that make a present tense a habit."""

KIN = _words(
    "sister brother mother mom mum father dad daughter son wife husband partner fiance "
    "fiancé fiancée fiancee"
    " girlfriend boyfriend cousin aunt uncle niece nephew grandmother grandma "
    "grandfather grandpa twin twins"
    " kids children parents daughters sons sisters brothers grandson granddaughter "
    "stepson stepdaughter"
    " stepfather stepmother in-laws family grandparents spouse baby toddler"
)
"""Relatives: that there is one, what one is called, does and lives is part of the person's own
life.
"""

OTHERS = _words(
    "friend friends colleague colleagues coworker co-worker coworkers boss manager "
    "neighbor neighbour neighbors"
    " neighbours roommate flatmate teammate teammates landlord ex client customer doctor "
    "therapist teacher"
    " professor buddy mate classmates classmate supervisor mentor intern assistant "
    "co-founder cofounder"
)
"""People whose life is not the speaker's to hand on."""

DREAMS = _words("dream dreams thing things class one few great good hard day number")
"""Of the passing things those that "my" may make lasting: "my dream is to …"."""

MEALS = _words(
    "lunch breakfast dinner coffee pizza nap sandwich snack beer drink brunch tea supper "
    "shower blast fun"
    " meeting call headache cold question problem issue idea chat look thought "
    "conversation feeling error"
    " time day week morning night weekend moment doubts trouble luck lot nothing"
)
"""What somebody "had" without its being worth a memory."""

EMPTY_WORDS = _words(
    "a an the to of in on at for with and or but is are was were be been being has have "
    "had does do did not"
    " it that this these those they them their there so very really too some any all "
    "more most much many lot"
    " lots thing things something anything stuff way bit kind sort about from by as into "
    "up out than then"
    " when while who which what how will would can could get got going go gets make "
    "makes made really just"
    " also always never good great nice awesome amazing cool fun well like such"
)
"""Words without content of their own, for measuring how much a sentence says."""
