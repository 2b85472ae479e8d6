"""Words that say nothing about what a text is about."""

from __future__ import annotations

_ENGLISH = """
a about above after again all also although always am an and another any anybody anyone anything are aren
arent as at be became because been before being below between both but by came can cannot cant come could
couldnt did didnt do does doesnt doing don done dont during each either else ever every everyone
everything few for from further get gets getting give given gives go goes going gone gonna got had hadnt
has hasnt have havent having he hed her here heres hers herself hes hey hi hello him himself his how
however hows i if ill im in into is isnt it itd itll its itself ive just kind let lets like lot make
makes many may maybe me might mine more most much must my myself near need needs neither never no nobody
none nor not nothing now of off often ok okay on once one ones only onto or other others our ours
ourselves out over own per perhaps please pls quite rather really said same say says see seem seems shall
she should shouldnt since so some somebody someone something still such sure take than thank thanks that
thats the their theirs them themselves then there theres therefore these they theyd theyll theyre theyve
thing things this those though through thus to together too toward towards under unless until up upon us
use used uses using very via want wants was wasnt way we wed well were werent weve what whatever whats
when whenever where wheres whether which while who whole whom whos whose why will with within without
wont would wouldnt yeah yep yes yet you youd youll your youre yours yourself youve eg ie etc e.g i.e
"""
# Of other languages only what is no English word of the trade (not "die", "man", "war", "main", "pour").
_GERMAN = """
aber alle als auch auf aus bei bin bis bitte bist da damit danke dann das dass dein dem den denn der des
dich dir doch durch ein eine einem einen einer eines er es fur gibt hab habe haben hat hatte ich ihm ihn
ihr ihre im immer in ist ja jetzt kann kein keine keinen konnen kannst mal mein meine mich mir mit muss
nach nein nicht noch nur oder ohne schon sehr sein seine sich sie sind soll sollen sollte uber um und uns
unser unter viel vom von vor wann warum was weil wenn werden wie wieder will wir wird wo wurde wurden zu
zum zur zwei hallo moin
"""
_FRENCH = """
ai au aux avec avez avoir bien bonjour ca ce cela ces cet cette chez comme dans de des du elle elles en
est et eu il ils je la le les leur leurs lui mais merci mes moi mon ne nos notre nous ont ou par pas peut
plus puis quand que quel quelle qui quoi sa se sera ses si sont sur ta tes toi ton tous tout toute toutes
tres tu un une vos votre vous etre etait faire fait faut veux
"""
_SPANISH = """
al algo ante aqui asi aun cada como con cual cuando de del desde donde el ella ellas ellos en entre era
eres es esa ese eso esta estan estas este esto estos gracias ha hace han hasta hay hola la las le les lo
los mas me mi mis mucho muy nada ni nos nosotros o para pero por porque puede puedo que quien se sea ser
si sin sobre solo somos son soy su sus tambien te tiene tengo toda todo todos tu tus un una unas uno unos
usted y ya yo
"""

STOP = frozenset((_ENGLISH + _GERMAN + _FRENCH + _SPANISH).split())

# Stems of words that many notes of the trade hold: in a small library, where every word looks rare, they say
# less than the others.
_COMMON = """
actu add allow answ api app applicat argu ask avoid back bad begin best bett big bottom branch break
broken bug build button call cas chang check class clos cod column command comment commit compani compar
comput config configurat convent convert copi count creat current custom data databas day default delet
dependenci deploy different directori doc dock docu documentat doubl download easi edit empti end error
event exact exampl explain fail fast featur fetch field fil find first fiv fix fold form format four full
funct get git good handl happen hard help hour http id import includ install issu javascript job join
json keep key know laptop last latest leav left level librari lin list load local log long look machin
main match merg messag method minut mod modul month morn mov nam need new next numb object old open
option output own packag pag paramet pars part pass path peopl person piec plac plain plan point pref
preferenc previous print problem process product program project pull push put python queri quest quick
read readm real refact releas remov renam replac repo repositori request respons rest result return
review right rul run sav screen script search second send serv servic set short show sid simpl singl sit
slow small sort split sql stag start stat status step stop string support tabl talk task team tell ten
test text think thre thread tim today tomorrow tool top turn two typ typescript updat upload user valu
vari vers wait way web week whol window word work wrap writ wrong yaml year yesterday zero
"""
COMMON = frozenset(_COMMON.split())
