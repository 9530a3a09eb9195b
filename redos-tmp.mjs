import {parseSync} from "oxc-parser"; import fs from "node:fs"; import path from "node:path"; import vm from "node:vm";
const out=[];
function walk(d){for(const e of fs.readdirSync(d,{withFileTypes:true})){const p=path.join(d,e.name);if(e.isDirectory())walk(p);else if(/\.tsx?$/.test(p))scan(p);}}
function scan(p){const {program}=parseSync(p,fs.readFileSync(p,"utf8"));
 (function v(n){ if(!n||typeof n!=="object")return; if(n.type==="Literal"&&n.regex) out.push([p,"/"+n.regex.pattern+"/"+n.regex.flags]); for(const k in n) v(n[k]); })(program);}
walk("lib");
const N=20000;
let flagged=[];
for(const [where,text] of out){
  if(!/[*+{]/.test(text)) continue;
  const m=/^\/(.*)\/([a-z]*)$/s.exec(text); 
  const lits=[...new Set([...(m[1].replace(/\\[dwsSDWpP](\{[^}]*\})?/g,"").match(/\\?[^\\]/g)||[]).map(x=>x.at(-1))])].slice(0,14);
  const chars=[...new Set([...lits,"a","0"," ","\n","/","\"","'","{","[","<","(","%","\\"])];
  const pumps=[...chars];
  for(const a of lits) for(const b of ["a","0"," ","\n"]) pumps.push(a+b);
  // literal words from regex
  for(const w of m[1].match(/[A-Za-z:\/."'{}<>-]{2,}/g)||[]) pumps.push(w, w+" ", w+"a");
  const prefixes=["",...(m[1].match(/[A-Za-z:\/.-]{3,}/g)||[]).slice(0,2)];
  let worst=0, wp;
  for(const pre of prefixes) for(const p of pumps) for(const suf of ["","!\u0001","\n"]){
    const str=pre+p.repeat(Math.ceil(N/p.length))+suf;
    const t=process.hrtime.bigint();
    try{ vm.runInNewContext("r.lastIndex=0; s.replace(r,'')",{r:new RegExp(m[1],m[2].includes("g")||m[2].includes("y")?m[2]:m[2]),s:str},{timeout:1000}); }catch(e){}
    const ms=Number(process.hrtime.bigint()-t)/1e6;
    if(ms>worst){worst=ms;wp=JSON.stringify([pre,p,suf]);}
    if(worst>900) break;
  }
  if(worst>60) {flagged.push([where,text,worst.toFixed(0),wp]); console.log(where,text,worst.toFixed(0),wp);}
}
console.log("checked",out.length);
