"""Texts in many scripts and shapes, and what each must be found by.

Written before the code that finds them. Every query must find its own text and, among all the other
texts of this table, nothing else by words or characters, unless `also` names them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sought:
    """One text, and the queries that must find it alone."""

    text: str
    queries: tuple[str, ...]


TABLE: tuple[Sought, ...] = (
    # Scripts without spaces.
    Sought(
        "毎週金曜日に東京タワーの近くで打ち合わせをする", ("東京タワー", "東京", "打ち合わせ", "曜")
    ),
    Sought("カメラのレンズは手入れが必要", ("レンズ", "手入れ", "ンズ")),
    Sought("ﾊﾝｶｸの請求書を保存する", ("ハンカク", "請求書")),
    Sought("GitHub备份设置在每晚两点运行", ("备份", "Hub备", "GitHub备份设置", "设", "晚两点")),
    Sought("咖啡不要加糖", ("咖啡", "加糖", "糖")),
    Sought("繁體中文的使用者介面", ("繁體", "介面", "使用者介面")),
    Sought("ล็อกอินด้วยบัตรพนักงาน", ("ล็อกอิน", "บัตร", "พนักงาน", "บั")),
    Sought("ປະຊຸມທຸກວັນຈັນ", ("ປະຊຸມ", "ວັນຈັນ")),
    Sought("ប្រជុំរៀងរាល់ថ្ងៃពុធ", ("ប្រជុំ", "ថ្ងៃពុធ")),
    Sought("အစည်းအဝေး နေ့တိုင်း", ("အစည်း", "နေ့တိုင်း")),
    # Korean: particles cling to words.
    Sought("서버 설정을 매달 백업한다", ("설정", "백업", "서버", "매달", "설")),
    Sought("점심에는 김치찌개를 먹는다", ("김치찌개", "찌개", "점심")),
    # Alphabets beside Latin.
    Sought("Настройки сервера хранятся в облаке", ("настройка", "серверы", "НАСТРОЙКИ", "облако")),
    Sought("Ёлка стоит у входа", ("елка", "ёлка", "вход")),
    Sought("يفضل المستخدم القهوة بدون سكر", ("القهوة", "قهوة", "سكر", "المستخدمين")),
    Sought("الاجتماعُ يومَ الأحد", ("الاجتماع", "الاحد")),
    Sought("किताबें पढ़ना पसंद है", ("किताब", "किताबें", "पसंद")),
    Sought("Προτιμά τον καφέ σκέτο", ("καφέ", "καφε", "ΚΑΦΕ")),
    Sought("פגישה ביום שלישי בבוקר", ("פגישה", "שלישי")),
    Sought("Зустріч щовівторка о дев'ятій", ("зустріч", "щовівторка")),
    Sought("காலை தேநீர் விருப்பம்", ("தேநீர்", "காலை")),
    # Latin with accents, both ways round.
    Sought("Calls the plan naïve", ("naive", "naïve", "NAÏVE")),
    Sought("His uncle is an emigre from Lyon", ("émigré", "emigre")),
    Sought("Das Straßenfest beginnt um acht", ("strassenfest", "Straßenfest", "STRASSENFEST")),
    Sought("Żółty łódź stoi w Gdańsku", ("zolty", "lodz", "łódź")),
    Sought("Smørrebrød til frokost", ("smorrebrod", "smørrebrød")),
    Sought("İstanbul ofisi kapalı", ("istanbul", "kapali")),
    Sought("Cafe\u0301 Central near the station", ("café central", "cafe")),
    # Stems, and languages guessed from little.
    Sought("Datenbankverbindungen werden nachts geprüft", ("datenbankverbindung", "bankverbind")),
    Sought("Die Konfigurationen liegen im Tresor", ("Konfiguration", "konfigurationen")),
    Sought("Les chevaux préférés galopent", ("cheval", "préféré", "galoper")),
    Sought("Las reuniones trimestrales son largas", ("reunión", "trimestral")),
    Sought("Le riunioni mensili sono brevi", ("riunione", "mensile")),
    Sought("Os relatórios saem às quintas", ("relatório", "relatorios")),
    Sought("Vergaderingen beginnen stipt", ("vergadering",)),
    Sought("Böckerna ligger på hyllan", ("böcker", "hylla")),
    Sought("She went hiking with her children", ("hike", "child", "hiked")),
    Sought("Runs deployments from the terminal", ("deployment", "deploy", "terminals")),
    # Exact tokens.
    Sought("Writes kernels in C++", ("C++", "c++")),
    Sought("Teaches evenings in C#", ("C#",)),
    Sought("Services target .NET mostly", (".NET", ".net")),
    Sought("Pinned to v2.3.1-rc1 until spring", ("v2.3.1-rc1", "2.3.1-rc1")),
    Sought("Rolled back to v2.3.1-rc2 once", ("v2.3.1-rc2",)),
    Sought("Retries after ERR_CONN_RESET", ("ERR_CONN_RESET", "err_conn_reset")),
    Sought("Gives up on ERR_CONN_REFUSED", ("ERR_CONN_REFUSED",)),
    Sought("Vhosts live in /etc/nginx/conf.d today", ("/etc/nginx/conf.d", "/etc/nginx")),
    Sought("Windows logs go to C:\\Temp\\spool", ("C:\\Temp\\spool",)),
    Sought("Ask maria.lopez@example.org about invoices", ("maria.lopez@example.org",)),
    Sought("Tagged #offsite2026 by the team", ("#offsite2026", "offsite2026")),
    Sought("Ticket JIRA-4812 blocks the release train", ("JIRA-4812", "jira-4812")),
    Sought("Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it", ("9fceb02d0ae598e95dc9",)),
    Sought("Gateway sits at 10.20.30.40", ("10.20.30.40",)),
    Sought(
        "Wiki page https://wiki.example.net/ops/oncall?tab=2", ("wiki.example.net", "/ops/oncall")
    ),
    Sought("Flag --no-verify is banned", ("--no-verify", "no-verify")),
    Sought("Set MAX_RETRIES=7 everywhere", ("MAX_RETRIES=7", "MAX_RETRIES")),
    Sought("Calls getUserProfile twice", ("getUserProfile", "profile")),
    Sought("Room 4.17 has the projector", ("4.17",)),
    Sought("Orders from @bakerbob weekly", ("@bakerbob", "bakerbob")),
    # Emoji.
    Sought("Weekend means 🧗‍♀️ with friends", ("🧗‍♀️",)),
    Sought("Celebrates launches 🎉 loudly", ("🎉",)),
    Sought("Family chat 👨‍👩‍👧 on Sundays", ("👨‍👩‍👧",)),
    Sought("Lives in 🇵🇹 part-time", ("🇵🇹",)),
    Sought("Thumbs 👍🏽 means approved", ("👍🏽", "👍")),
    # Short.
    Sought("Xylophone practice at dusk", ("xy", "xyl", "Xylo")),
    Sought("Q7 is the quiet quarter", ("Q7",)),
    # Wildcards are letters.
    Sought("Discount of 15% on seats", ("15%", "%")),
    Sought("Column user_id is opaque", ("user_id",)),
    Sought("Escapes with back\\slash here", ("back\\slash",)),
    # Apostrophes.
    Sought("Caroline's cello is rented", ("Caroline", "caroline’s")),
    Sought("L'école ferme à midi", ("école", "ecole")),
)
