/** Style and script of the pages of links, and the policy that allows exactly these. */
import { createHash } from 'node:crypto'

/** Colours and type of all pages of the event (`proxy/pages/design/tokens.css`); a test compares them. */
const TOKENS = `
:root{color-scheme:light dark;--paper:#f6efe0;--surface:#fffcf5;--sunken:#efe5d0;--ink:#2a1d14;--soft:#64523f;--line:#dccdb1;--accent:#9c1f1a;--on-accent:#fff8ea;--gold:#80540b;--gold-fill:#d9a441;--jade:#125a52;--good:#1d6b3a;--warning:#8a4b00;--map-sea:#d6e2dc;--map-land:#fbf5e7;--map-coast:#7f9a90;--map-county:#cdbf9f;--map-town:#e7dcc4;--map-label:#75644f;--map-route:#8d7b63;--map-walked:#9c1f1a;--map-halo:#fffcf5;--mark-me:#1f5fbf;--mark-station:#64523f}
@media (prefers-color-scheme:dark){:root{--paper:#061816;--surface:#0d2724;--sunken:#081e1b;--ink:#f8eedb;--soft:#b9ae98;--line:#25483f;--accent:#f3d38a;--on-accent:#2b1b02;--gold:#f3d38a;--gold-fill:#c8963c;--jade:#7fd3c0;--good:#8ed6a0;--warning:#f2bd6b;--map-sea:#04110f;--map-land:#0c2521;--map-coast:#3d7d70;--map-county:#21463f;--map-town:#14332e;--map-label:#8fa79b;--map-route:#7f9488;--map-walked:#f3d38a;--map-halo:#061816;--mark-me:#7ab4ff;--mark-station:#d8c9a6}}
:root{--font:system-ui,-apple-system,'PingFang TC','Noto Sans TC','Noto Sans CJK TC','Microsoft JhengHei',sans-serif;--font-display:'Noto Serif','Songti TC','Noto Serif TC','Noto Serif CJK TC','Hiragino Mincho ProN','Yu Mincho',Georgia,'Noto Sans CJK TC','Microsoft JhengHei',serif}
:lang(zh-Hans){--font:system-ui,-apple-system,'PingFang SC','Noto Sans SC','Noto Sans CJK SC','Microsoft YaHei',sans-serif;--font-display:'Noto Serif','Songti SC','Noto Serif SC','Noto Serif CJK SC',Georgia,'Noto Sans CJK SC','Microsoft YaHei',serif}
:lang(ja){--font:system-ui,-apple-system,'Hiragino Sans','Noto Sans JP','Noto Sans CJK JP',sans-serif;--font-display:'Noto Serif','Hiragino Mincho ProN','Yu Mincho','Noto Serif JP','Noto Serif CJK JP',Georgia,'Noto Sans CJK JP','Yu Gothic',serif}`

export const STYLE = `${TOKENS}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;background:var(--paper)}
body{margin:0;padding:1.25rem 1rem 2.5rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 var(--font);overflow-wrap:anywhere}
main{display:grid;gap:1.25rem;width:100%;max-width:70rem;margin:0 auto}
h1{margin:.15rem 0 0;font:600 1.75rem/1.25 var(--font-display);text-wrap:balance}
h2{margin:0;font:600 1.25rem/1.3 var(--font-display)}
p{margin:0}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.event{color:var(--gold);font-weight:600;letter-spacing:.02em}
.state{display:flex;flex-wrap:wrap;align-items:center;gap:.35rem .75rem;margin:.75rem 0 .6rem}
.badge{display:inline-flex;align-items:center;gap:.5em;padding:.15rem .85rem;border:1px solid currentcolor;border-radius:2rem;font-size:.9375rem;font-weight:600}
.badge::before{content:'';width:.6em;height:.6em;border-radius:50%;background:currentcolor}
.badge.good{color:var(--good)}
.badge.warning{color:var(--warning)}
.badge.quiet{color:var(--soft)}
.soft{color:var(--soft);font-size:.9375rem;text-wrap:pretty}
.notice{padding:.75rem 1rem;border-left:.25rem solid var(--gold-fill);border-radius:.45rem;background:var(--sunken)}
.panel{display:grid;gap:.9rem;padding:1.1rem;border:1px solid var(--line);border-radius:.9rem;background:var(--surface)}
.frame{margin:0;padding:.4rem;border:1px solid var(--gold-fill);border-radius:.9rem;background:var(--surface)}
figcaption{padding:.35rem .3rem 0;color:var(--soft);font-size:.75rem;line-height:1.3}
.map,.card{display:block;width:100%;height:auto;border-radius:.6rem}
.card{aspect-ratio:1200/630;background:var(--sunken);color:var(--soft)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1rem;margin:0}
.facts>div{padding-left:.75rem;border-left:2px solid var(--gold-fill)}
.facts dt{color:var(--soft);font-size:.875rem}
.facts dd{margin:0;font:600 1.5rem/1.3 var(--font-display);font-variant-numeric:lining-nums tabular-nums}
.facts dd small{font:400 .9375rem/1 var(--font);color:var(--soft)}
.facts dd{overflow-wrap:break-word}
.facts dd .word{display:flex;align-items:center;gap:.45rem;font-size:1.1875rem}
.emblem{flex:none;width:1.6rem;height:1.6rem;color:var(--gold)}
.emblem svg{display:block}
.next{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.15rem 1rem;align-items:baseline}
.next strong{font:600 1.375rem/1.3 var(--font-display)}
.next b{color:var(--accent)}
.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.5rem 1.1rem;border:1px solid var(--accent);border-radius:.45rem;background:var(--accent);color:var(--on-accent);font-weight:600;line-height:1.2;text-decoration:none}
.button.plain{border-color:var(--line);background:none;color:var(--ink)}
.town-name{font-weight:600}
.actions{display:flex;flex-wrap:wrap;gap:.75rem}
footer{display:grid;gap:.75rem;color:var(--soft);font-size:.9375rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
nav a{padding:.5rem 0;color:var(--soft)}
nav [aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
.sea{fill:var(--map-sea)}
.land{fill:var(--map-land)}
.coast{stroke:var(--map-coast);stroke-width:2;stroke-linejoin:round}
.county-border,.town-border{fill:none;stroke:var(--map-county);stroke-width:2.5;stroke-linejoin:round}
.town-border{stroke:var(--map-town);stroke-width:2}
.town{fill:var(--map-label);font:500 19px var(--font);paint-order:stroke;stroke:var(--map-land);stroke-width:5px}
.waves{fill:none;stroke:var(--map-town);stroke-width:2}
.route-edge,.route,.walked-edge,.walked,.scale{fill:none;stroke-linecap:round;stroke-linejoin:round}
.route-edge{stroke:var(--map-halo);stroke-width:12}
.route{stroke:var(--map-route);stroke-width:5;stroke-dasharray:1 11}
.walked-edge{stroke:var(--map-halo);stroke-width:13}
.walked{stroke:var(--map-walked);stroke-width:7}
.start{fill:var(--map-halo);stroke:var(--map-walked);stroke-width:4}
.station{fill:var(--map-halo);stroke:var(--mark-station);stroke-width:4}
.name,.scale-text{fill:var(--ink);font:600 22px var(--font);paint-order:stroke;stroke:var(--map-halo);stroke-width:6px;stroke-linejoin:round}
.scale{stroke:var(--map-label);stroke-width:2.5}
.scale-text{fill:var(--map-label);font-size:18px;font-weight:500}
.here{fill:var(--mark-me);stroke:var(--map-halo);stroke-width:4}
.here.silent{fill:var(--soft)}
.here-eye{fill:var(--map-halo)}
.pulse{fill:var(--mark-me);opacity:.28;transform-box:fill-box;transform-origin:center;animation:pulse 2.4s ease-out infinite}
@keyframes pulse{from{transform:scale(.8);opacity:.45}to{transform:scale(2.8);opacity:0}}
@media (prefers-reduced-motion:reduce){.pulse{animation:none}}
.gone{min-height:85vh;align-content:center;justify-items:center;max-width:34rem;text-align:center}
.gone p{text-wrap:balance}
.gone svg{width:5rem;height:5rem;color:var(--gold-fill)}
@media (min-width:60rem){body{padding:2.5rem 2rem}main.live{grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);align-items:start;column-gap:2rem}main.live>header,main.live>.notice,main.live>footer{grid-column:1/-1}h1{font-size:2.25rem}main.still{max-width:48rem}}
[hidden]{display:none}`

/**
 * Fetches the page again and shows what has changed. When the link has ended, it is loaded as a whole, so that its own
 * answer is shown. The address stays the only thing that the script knows.
 */
export const SCRIPT = `(()=>{
const every=30000,main=()=>document.querySelector('main');let due=Date.now()+every;
const path=location.pathname,keep=(value)=>{looked=value;try{sessionStorage.setItem(path,value)}catch{}};
let looked=null;try{looked=sessionStorage.getItem(path)}catch{}
if(location.hash==='#own'){keep('own');history.replaceState(null,'',path+location.search)}
const look=()=>{if(document.hidden||looked==='own')return;
if(Date.now()-looked>600000)fetch('/api/event/shares'+path.slice(2)+'/views',{method:'POST',keepalive:true,credentials:'omit'}).catch(()=>0);
keep(Date.now())};look();
const renew=async()=>{if(document.hidden||Date.now()<due)return;due=Date.now()+every;look();
const note=document.querySelector('[data-offline]');
try{const answer=await fetch(location.href,{cache:'no-store',credentials:'omit'});
if(answer.status===410){location.reload();return}
if(!answer.ok)throw new Error();
const page=new DOMParser().parseFromString(await answer.text(),'text/html');
const old=main().querySelector('.card'),fresh=page.querySelector('.card');
if(old&&fresh&&old.getAttribute('src')===fresh.getAttribute('src'))fresh.replaceWith(old);
main().replaceWith(page.querySelector('main'))}catch{if(note)note.hidden=false}};
setInterval(renew,1000);
addEventListener('online',()=>{due=0});
document.addEventListener('visibilitychange',()=>{if(!document.hidden)due=0})})()`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The policy allows the style and the script above, the card, and reading the page again. */
export const SHARE_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
