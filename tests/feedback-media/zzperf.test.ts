import { test } from 'bun:test'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { openDatabase } from '#shared/db/db.ts'
import { migrateDatabase } from '#shared/db/migrate.ts'
import { readTrack } from '#services/feedback-media/cards/read-facts.ts'
for (const kind of ['real','embedded'] as const)
test('perf '+kind, async () => {
  const t = kind==='real'? await openTestDatabase():null
  const db = await openDatabase({ url: t?.url??'', dir: '/tmp/fm/pg-'+Date.now() })
  if(!t) await migrateDatabase(db)
  const start = Date.parse('2026-11-10T00:00:00Z')
  for (let d=0;d<40;d++){const day=new Date(start+(d-15)*864e5).toISOString().slice(0,10).replaceAll('-','');const a=new Date(start+(d-15)*864e5).toISOString(),b=new Date(start+(d-14)*864e5).toISOString();await db.sql.unsafe(`CREATE TABLE IF NOT EXISTS gps_points_${day} PARTITION OF gps_points FOR VALUES FROM ('${a}') TO ('${b}')`).catch(e=>console.log(String(e)))}
  for(const u of ['a','b','c'])await db.sql`INSERT INTO gps_points (user_id,kind,sent_at,recorded_at,received_at,lat,lng,in_range,clock_corrected) SELECT ${u},'t',x,x,x,24+i*1e-5,120+i*1e-5,true,false FROM (SELECT i, to_timestamp(${start/1000}::float8)+ i*interval '20 seconds' x FROM generate_series(1,38000) i) q`
  await db.sql`INSERT INTO pilgrim_totals(user_id,points,first_seen,last_seen) SELECT 'a',38000,min(sent_at),max(sent_at) FROM gps_points where user_id='a'`
  const kv:any={peek:async()=>[]}
  for(let k=0;k<4;k++){const s=performance.now();const r=await readTrack({db,kv} as any,'a');console.log(kind,r.length,performance.now()-s,r[0],r.at(-1))}
  await db.close(); await t?.drop()
}, 120000)
