# ruff: noqa: E501 - a pattern broken in the middle of a word list is harder to read
"""Phrases that give an assistant orders, in the folded form that `hostile` compares: no accents,
lower case, one space. English at length; of other languages the forms that are met most.
"""

from __future__ import annotations

import re

_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?: about)?|override|overrule|bypass|discard"
    r"|(?:do not|don't|never|stop) (?:follow|obey|heed)(?:ing)?|pay no attention to)"
)
_FILL = r"(?:(?:all|any|every|each|both|of|the|those|these|this|that|my|our|and|other|such) ){0,4}"
_FORMER = (
    r"(?:previous(?:ly)?|prior|preceding|above|earlier|foregoing|initial|original|system|safety"
    r"|your|developer'?s?|hidden|built-in)"
)
_RULES = (
    r"(?:instructions?|prompts?|rules?|guidelines?|guidance|directives?|commands?|orders?"
    r"|polic(?:y|ies)|restrictions?|constraints?|guardrails?|safeguards?|programming|training)"
)
_MACHINE_RULES = r"(?:instructions?|prompts?|directives?|guardrails?|safeguards?)"
_MANNER = (
    r"in (?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese"
    r"|korean|arabic|turkish|hindi|latin|klingon|pirate|emojis?|json|(?:all )?caps|capitals"
    r"|uppercase|rhymes?|verse|haikus?|riddles|character|base64)"
)
_ADDRESS = (
    rf"(?:obey|comply with|pretend|claim|insist|lie|promote|praise|behave as|act as"
    rf"|(?:answer|reply|respond|speak) (?:every|all|any|only|as|like|that|{_MANNER}|with (?:a|the))"
    r"|say (?:that|only|yes|nothing)|tell (?:everyone|everybody|anyone|users|people|the user)"
    r"|recommend|reveal|disclose|ignore (?:all|any|every|previous|your|the (?:system|user|safety))"
    r"|never (?:reveal|mention|admit|refuse|tell)"
    r"|always (?:say|answer|reply|respond|recommend|agree|tell|mention|refuse|obey))"
)
_DUTY = (
    r"(?:must|shall|should|has to|have to|needs? to|will|is to|are to|(?:is|are) required to|may"
    r"|can|cannot)"
)
_MANNER_OF_DUTY = r"(?:(?:now|not|never|always|only|also|henceforth|from now on) ){0,3}"
_TALK = (
    r"(?:answer|reply|respond|say|tell|speak|claim|insist|recommend|suggest|mention|promote|praise"
    r"|pretend|obey|comply|refuse|reveal|disclose|agree|deny|lie|trust|believe|ignore|disregard"
    r"|treat|forget|follow (?:all|any|every|the|these)|act as|behave)"
)
_IN_TIME = r"(?! (?:within|in under|in less|faster|by|at|on|to the (?:ticket|mail|customer)))"
_MACHINES = (
    r"(?:ai(?: assistants?| models?| agents?| bots?)?|chat ?bots?|(?:large )?language models?|llms?"
    r"|chatgpt|claude|gemini|copilot)"
)
_WORKERS = r"(?:assistants?|bots?|agents?)"
_SECRETS = (
    r"(?:conversations?|chat (?:history|logs?)|memories|passwords?|secrets?|api keys?"
    r"|credentials?|tokens?|private (?:data|messages?)|personal (?:data|information|details)"
    r"|messages?|system prompt|details)"
)

ENGLISH = (
    rf"\b{_DROP} {_FILL}{_FORMER} (?:\w+ ){{0,2}}{_RULES}\b",
    rf"\b{_DROP} (?:all|any|every|each)(?: of)?(?: the| these| those)? {_MACHINE_RULES}\b",
    rf"\b{_DROP} (?:everything|anything|all)(?: that)? (?:above|before this|you (?:were|have|had"
    r"|know|ever)|i (?:said|told)|was said|has been said|came before|written above)\b",
    r"ignore(?:all|any)?(?:the|your)?(?:previous|prior|above|system)?(?:instructions|prompts)\b",
    r"\bforget (?:everything|all|whatever)(?: that)? you (?:know|knew|were|have|learned)",
    r"\b(?:overrides?|supersedes?|takes? precedence over|more important than) (?:all|any|every|your"
    r"|the)(?: of)?(?: (?:other|previous|prior|earlier|system|your)){0,2} (?:instructions?|prompts?)\b",
    # Another role.
    r"\b(?:from now on|from this (?:point|moment) on(?:wards?)?|henceforth|starting now),?"
    rf" (?:you (?:are|act|answer|respond|reply|obey|speak|no longer|{_DUTY} {_MANNER_OF_DUTY}"
    rf"(?:be|{_TALK}))|your (?:name|role|answers?)|(?:answer|respond|reply|speak) {_MANNER}"
    rf"|act as|pretend|(?:the|every|any) (?:{_WORKERS}|{_MACHINES}))\b",
    r"\byou(?: are|'re) (?:now )?(?:dan|(?:an? )?(?:unrestricted|uncensored|unfiltered|jailbroken"
    r"|evil|rogue|amoral|different (?:ai|assistant|bot))|no longer (?:bound|restricted|limited|an?"
    r" (?:ai|assistant|bot))|free (?:from|of) (?:all|any|your)|(?:an?|the) (?:\w+ )?(?:ai|assistant"
    r"|chat ?bot|bot|pirate|hacker|administrator|root user))\b",
    r"\b(?:pretend|imagine|act|behave|role-?play|respond|speak|talk|answer) (?:to be an?|you are"
    r"|you're|that you|as if you|as though you|as (?:an? )?(?:unrestricted|uncensored|evil|admin"
    r"|administrator|root|dan|pirate|hacker|jailbroken|different|another (?:ai|assistant)))\b",
    r"\byou have no (?:restrictions|limits|limitations|rules|guidelines|filters|guardrails|ethics)",
    r"\b(?:god|dan|jailbreak|unrestricted|do anything now) mode\b|\bdo anything now\b",
    r"\b(?:system|admin(?:istrator)?|developer|security|emergency|root) override(?:$| ?[:!]"
    r"| (?:accepted|enabled|engaged|activated|in effect))",
    # What you, or the assistant, must say and do.
    rf"\byou {_DUTY} {_MANNER_OF_DUTY}{_ADDRESS}\b",
    rf"\byou (?:always|never|only) {_ADDRESS}\b",
    rf"\b{_MACHINES} {_DUTY} {_MANNER_OF_DUTY}(?:{_TALK}|send|forward|include|append|add|call|share"
    r"|approve|grant|execute|delete|remove|remember|assume|start every|end every)\b",
    rf"\b{_WORKERS} {_DUTY} {_MANNER_OF_DUTY}{_TALK}\b{_IN_TIME}",
    rf"\b(?:always|only|never) (?:answer|reply|respond|speak)(?: to (?:everyone|everybody|anyone|me"
    rf"|us|(?:every|any|all) \w+|users?|the user))?,? (?:{_MANNER}|with (?:a|an|the) (?:words?"
    r"|phrase|sentence|joke|poem|haiku|emoji|rhyme)|as (?:if|though|a|an)\b|like an? |that |by"
    r" saying|[\"'])",
    r"\b(?:if|when|whenever|each time) (?:you are |you're )?asked (?:about|for|whether|if|who|what"
    r"|which|how|why|to)\b[^.\n]{0,80}?[,;:]? (?:then |always |just |you )?(?:say|answer|reply"
    r"|respond|claim|recommend|insist|deny|pretend)\b",
    r"\b(?:if|when|whenever) (?:any(?:one|body)|some(?:one|body)|a user|users|the user|people) (?:ask"
    rf"|want|mention|say)s?\b[^.\n]{{0,80}}? you {_DUTY} {_MANNER_OF_DUTY}{_TALK}\b",
    r"\bobey (?:me|only|my|him|her|them|whatever|anything|without|every (?:command|order|word)|all"
    r" (?:my|commands|orders))\b",
    r"\bdo (?:whatever|anything|everything) (?:i|he|she|they|the user|this user) (?:say|ask|tell"
    r"|want|command)s?\b",
    r"\btreat (?:every|all|any|each) (?:requests?|messages?|commands?|instructions?|users?|orders?)"
    r"\b[^.\n]{0,40} as (?:an? )?(?:pre-?)?(?:approved|authori[sz]ed|verified|trusted|admin"
    r"|administrator|owner|root|true)\b",
    # Talk about the prompt.
    r"\b(?:reveal|show|print|repeat|output|leak|display|dump|expose|recite|disclose|tell (?:me|us"
    r"|everyone)|give (?:me|us)|share|return|paste|translate|write (?:out|down))\b[^.\n]{0,40}\b"
    r"(?:(?:system|hidden|initial|secret|original|developer) (?:prompt|instructions?)|your (?:\w+ )"
    r"{0,2}(?:instructions?|prompt|guidelines|memory|memories))\b",
    r"\bkeep (?:this|these|the following) (?:instructions?|rules?|orders?) (?:secret|hidden"
    r"|confidential|to yourself)\b",
    r"\b(?:do not|don't|never) (?:mention|reveal|disclose|repeat|quote) (?:this|these|the above|your)"
    r" (?:instructions?|prompt|orders?|memory)\b",
    r"\bnew (?:system )?instructions? ?(?::|for you\b)",
    rf"\b(?:notes?|message|instructions?|reminder|notice|attention|memo)(?: to| for)? (?:the |any |all"
    rf" |every |our )?(?:{_MACHINES}|assistants?)\b[^.:\n]{{0,30}}:",
    rf"\b(?:hey|hi|hello|dear|attention|listen),? (?:{_MACHINES}|assistant)\b",
    # Lures: tools, silence, ways out.
    r"\b(?:call|use|invoke|run|execute|trigger)\b[^.\n]{0,30}\b(?:(?:create|remove|delete|list"
    r"|search)_?memor(?:y|ies)|memory tools?|your tools?|tool (?:to|and) (?:delete|send|forward"
    r"|transfer|leak|e-?mail|post|upload|wipe|remove))\b",
    r"\b(?:delete|erase|wipe|remove) (?:all|every|your|the user's)(?: of)?(?: the| their| your)?"
    r" (?:memories|memory(?: of|$|[.!]))",
    r"\bwithout (?:asking|telling|informing|notifying|alerting|consulting) (?:the |any )?(?:user"
    r"|human)s?\b",
    r"\b(?:do not|don't|never) (?:tell|inform|notify|alert) (?:the |any )?users? (?:about (?:this|it"
    r"|these)|of (?:this|it)|that you|anything)\b",
    r"https?://\S{1,200}?[?&][\w-]{1,30}=(?:(?:[{<\[]|\$\{)\w|%7b|%3c|\.\.\.|your_?|secret|data\b)",
    r"!\[[^\]]{0,100}\]\( ?https?://",
    r"\b(?:send|post|forward|e-?mail|upload|append|submit|exfiltrate|leak|transmit|copy|encode)\b"
    r"[^.\n]{0,30}\b(?:the user'?s?|users'|your|all(?: the| of the| your| user)?|every|(?:the |this )?"
    rf"(?:full|whole|entire)|this) (?:\w+ )?{_SECRETS}\b[^\n]{{0,60}}(?:https?://|www\.|\bto"
    r" [\w.+-]+@[\w-]+\.|\bwebhook\b|\bto (?:me|us)\b)",
    # Marks of a prompt.
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>",
    r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    r"</?(?:system|assistant|recalled_memories|tool_calls?|function_calls?|instructions?"
    r"|system[_-]?prompt|developer)>",
    r"#{2,} ?(?:new )?(?:system|instructions?|assistant) ?:",
    r"(?:^|[\s\"'(\[>])(?:system|developer|assistant)(?: message| prompt| note)? ?: ?\[?(?:you |ignore"
    r"|from now|new |always |never |override|disregard|obey|the assistant|do not|all )",
    r"\bhuman ?: [^\n]{1,300}\bassistant ?:",
)

OTHER_LANGUAGES = (
    # German
    r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst|vergessen sie|ubergeh\w*|beachte\w* nicht|setze?"
    r" dich hinweg uber)\b[^.\n]{0,40}\b(?:vorherig\w*|bisherig\w*|obig\w*|vorangegangen\w*|fruher\w*"
    r"|vorig\w*|deine\w?|system)\b ?[^.\n]{0,25}(?:anweisung|instruktion|regeln|vorgaben|befehl"
    r"|prompt|richtlinie)",
    r"\b(?:ignorier\w*|vergiss|missacht\w*) (?:alle|samtliche) (?:anweisung|instruktion|vorgaben)",
    r"\bab (?:jetzt|sofort|nun) (?:bist|antwortest|antworte|gehorchst|musst|sollst|wirst) (?:du\b"
    r"|immer|nur|stets)",
    r"\bdu bist (?:jetzt|nun|ab (?:jetzt|sofort)) (?:ein|kein|der|die)",
    r"\b(?:assistent|chatbot|bot|ki(?:-assistent)?|sprachmodell) (?:muss|soll|darf|hat|sollte)\b"
    r"[^.\n]{0,40}\b(?:antworten|sagen|empfehlen|behaupten|verraten|ignorieren|gehorchen|erwahnen"
    r"|zustimmen|verschweigen)",
    r"(?:^|[.!?:] ?)antworte (?:immer|stets|ab jetzt|kunftig|nur noch|ausschliesslich)\b",
    r"\b(?:zeig|verrate?|nenne?|gib)\w*\b[^.\n]{0,30}\b(?:system-?prompt|deine (?:anweisungen"
    r"|instruktionen|systemanweisung))",
    # French
    r"\b(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne (?:tiens|tenez) (?:pas|aucun) compte|fai(?:s|tes)"
    r" abstraction)\b[^.\n]{0,25}\b(?:instructions?|consignes|directives|regles)\b[^.\n]{0,25}\b"
    r"(?:precedentes?|anterieures?|ci-dessus|initiales?|systeme)",
    r"\b(?:ignore[rz]?|oublie[rz]?) (?:toutes )?(?:tes|vos) (?:instructions|consignes|directives"
    r"|regles)",
    r"\b(?:a partir de maintenant|desormais|dorenavant),? (?:tu|vous) (?:es|etes|dois|devez|reponds"
    r"|repondez|vas|allez)\b",
    r"\btu es (?:maintenant|desormais) ",
    r"\b(?:assistant|chatbot|ia|agent) (?:doit|devra|ne doit)\b[^.\n]{0,30}\b(?:repondre|dire"
    r"|recommander|pretendre|reveler|ignorer|obeir|affirmer)",
    r"(?:^|[.!?:] ?)(?:reponds|repondez) (?:toujours|uniquement|seulement)\b",
    # Spanish
    r"\b(?:ignor[ae]|olvid[ae]|omit[ae]|descart[ae]|desobedece|no sigas)\b[^.\n]{0,25}\b"
    r"(?:instrucciones|reglas|ordenes|indicaciones|directrices)\b[^.\n]{0,20}\b(?:anteriores|previas"
    r"|precedentes|del sistema|iniciales)",
    r"\b(?:ignor[ae]|olvid[ae]) (?:todas )?(?:tus|sus) (?:instrucciones|reglas|ordenes)",
    r"\b(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:tu |usted )?(?:eres|es|responde"
    r"|respondes|debes|debe|actua|seras|obedece)\b",
    r"\bahora eres (?:un|una|el|la|dan)\b",
    r"\b(?:asistente|chatbot|bot|ia) (?:debe|tiene que|no debe)\b[^.\n]{0,30}\b(?:responder|decir"
    r"|recomendar|afirmar|revelar|ignorar|obedecer|contestar)",
    r"(?:^|[.!?:] ?)(?:responde|contesta) (?:siempre|unicamente)\b",
    # Portuguese
    r"\b(?:ignor[ae]|esqueca|esquece|desconsider[ae])\b[^.\n]{0,25}\b(?:instrucoes|regras|ordens"
    r"|orientacoes|comandos)\b[^.\n]{0,20}\b(?:anteriores|previas|acima|do sistema)",
    r"\b(?:ignore|esqueca) (?:todas )?(?:as )?(?:suas|tuas) (?:instrucoes|regras)",
    r"\b(?:a partir de agora|de agora em diante),? (?:voce|tu) (?:e|es|deve|deves|sera|vai"
    r"|responde)\b",
    r"\b(?:assistente|chatbot|bot|ia) (?:deve|tem que|nao deve)\b[^.\n]{0,30}\b(?:responder|dizer"
    r"|recomendar|afirmar|revelar|ignorar|obedecer)",
    # Italian
    r"\b(?:ignora(?:te)?|dimentica(?:te)?|trascura)\b[^.\n]{0,25}\b(?:istruzioni|regole|indicazioni"
    r"|direttive)\b[^.\n]{0,20}\b(?:precedenti|di sistema|iniziali)",
    r"\b(?:d'ora in (?:poi|avanti)|da ora in poi|da adesso),? (?:sei|rispondi|devi|agisci|tu)\b",
    r"\b(?:assistente|chatbot|bot|ia) (?:deve|non deve)\b[^.\n]{0,30}\b(?:rispondere|dire"
    r"|raccomandare|consigliare|affermare|rivelare|ignorare|obbedire)",
    # Dutch
    r"\b(?:negeer|vergeet)\b[^.\n]{0,25}\b(?:eerdere|vorige|voorgaande|bovenstaande|je|jouw)\b"
    r"[^.\n]{0,15}\b(?:instructies|regels|opdrachten|prompts?)",
    r"\bvanaf nu (?:ben|moet|antwoord|spreek|gehoorzaam) (?:je|jij|u|altijd)\b",
    r"\b(?:assistent|chatbot|bot) (?:moet|mag)\b[^.\n]{0,30}\b(?:antwoorden|zeggen|aanbevelen"
    r"|negeren|onthullen|gehoorzamen)",
    # Polish
    r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij|pomin)\b[^.\n]{0,25}\b(?:poprzednie|wczesniejsze"
    r"|wszystkie|powyzsze|swoje)\b[^.\n]{0,15}\b(?:instrukcje|polecenia|zasady|wytyczne)",
    # Russian
    r"(?:игнориру|проигнориру|забуд|не следуи|отбрось)\w*[^.\n]{0,30}(?:предыдущ|прежн|прошл|выше"
    r"|все|сво|твои)\w*[^.\n]{0,15}(?:инструкци|указани|правил|команд)",
    r"(?:отныне|с этого момента|теперь),? ты (?!можешь)",
    r"(?:ассистент|помощник|чат-?бот|бот) (?:должен|обязан|не должен)[^.\n]{0,30}(?:отвеча|говори"
    r"|рекоменд|игнорир|раскры|утвержд)",
    # Turkish
    r"\b(?:onceki|yukaridaki|tum)\b[^.\n]{0,25}\b(?:talimat|yonerge|kural|komut)\w*[^.\n]{0,15}\b(?:yok"
    r" say|unut|gormezden gel|dikkate alma)",
    # Japanese
    r"(?:これまで|以前|上記|今まで|前|すべて|全て|あなた)の?[^。\n]{0,8}(?:指示|命令|ルール|プロンプト"
    r"|規則)[^。\n]{0,6}(?:無視|忘れ|従わない|破棄)",
    r"(?:これから|今から|今後)は?、?(?:あなた|君|お前)は",
    r"(?:アシスタント|ai|チャットボット|ボット)は[^。\n]{0,20}(?:答え|回答し|言わ|言う|推奨し|返答し"
    r"|無視し)[^。\n]{0,6}(?:べき|ならない|なければ|こと|なさい)",
    r"(?:システム)?プロンプトを[^。\n]{0,6}(?:表示|出力|教え|見せ)",
    # Chinese
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|不要理會)[^。\n]{0,10}(?:之前|以前|以上|上述"
    r"|先前|前面|所有|全部|你的|系统|系統)[^。\n]{0,8}(?:指令|指示|规则|規則|提示词|提示詞|提示|命令|设定"
    r"|設定)",
    r"从现在(?:开始|起),?你(?:是|必须|要|将|只)|從現在(?:開始|起),?你(?:是|必須|要|將|只)",
    r"(?:助手|助理|机器人|機器人|人工智能|ai)(?:必须|必須|应该|應該|要|应当)(?:总是|總是|始终|始終|永远"
    r"|永遠|只)?(?:回答|回复|回覆|说|說|推荐|推薦|告诉|告訴|忽略)",
    r"(?:显示|顯示|输出|輸出|告诉我|告訴我|泄露|洩露|打印)[^。\n]{0,6}(?:系统提示|系統提示|提示词|提示詞)",
    # Korean
    r"(?:이전|앞의|위의|모든|기존)[^.\n]{0,10}(?:지시|명령|규칙|지침|프롬프트)[^.\n]{0,8}(?:무시|잊어"
    r"|따르지)",
    r"(?:지금부터|이제부터) ?(?:너는|당신은|넌)",
    r"(?:어시스턴트|챗봇|비서)는 [^.\n]{0,25}(?:대답|답변|말|추천)[^.\n]{0,4}해야",
    # Arabic
    r"(?:تجاهل|انس|اهمل)[^.\n]{0,20}(?:تعليمات|التعليمات|الاوامر|اوامر|القواعد|الارشادات)",
    r"(?:من الان فصاعدا|من الان),? (?:انت|عليك|يجب عليك)",
    # Hindi
    r"(?:पिछले|पहले के|सभी|उपरोक्त)[^।\n]{0,15}(?:निर्देश|नियम|आदेश)[^।\n]{0,20}(?:अनदेखा|भूल|नजरअंदाज)",
)

PHRASES = tuple(re.compile(phrase) for phrase in (*ENGLISH, *OTHER_LANGUAGES))
