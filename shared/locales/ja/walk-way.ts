import type { WalkWords } from '../words.ts'

export const way: WalkWords['way'] = {
  title: '歩いた道',
  level: (number) => `レベル ${number}`,
  saved: '歩いて減らした CO₂（これまで）',
  next: (level, km, checkIns) =>
    `「${level}」まで、あと${[km > 0 && ` ${km}\u00a0km`, checkIns > 0 && `チェックイン ${checkIns}\u00a0回`].filter(Boolean).join('と')}です。`,
  highest: '最高のレベルです。',
  first: '最初のチェックインから、あなたの道が始まります。',
  day: '日',
  map: (day, km) => `${day} の道の地図：${km}\u00a0km`,
  dayBefore: '前の日',
  dayAfter: '次の日',
  larger: '大きな地図',
  wholeDay: '一日全体',
  mapKeys: '矢印キーで移動、プラスとマイナスで拡大縮小します。',
  dayMissing: 'この日の記録はまだこのスマホにありません。電波のある所で届きます。',
  onFoot: (km) => `徒歩か自転車で ${km}\u00a0km：排出なし。`,
  why: '計算のしかた',
  carbon: (amount) =>
    amount === null
      ? 'この日は乗り物に乗らず、CO₂ を出していません'
      : `この日、乗り物で出した CO₂ は ${amount}`,
  motor: (from, to, mode, km, speed, carbon) =>
    `${from} から ${to}：${mode}で ${km}\u00a0km、時速 ${speed}\u00a0km、${carbon}`,
  bySpeed: '時速 15\u00a0km を超えるとバスとして数えます。何に乗ったかスマホには分からないためです。',
  modes: {
    walk: '徒歩',
    car: '車',
    scooter: 'スクーター',
    bike: '自転車',
    bus: 'バス',
    mrt: '地下鉄',
    train: '列車',
    hsr: '高速鉄道',
  },
  stations: 'この先の立ち寄り所',
  nextStation: '次の立ち寄り所：',
  noPlace: 'チェックインするか記録を始めると、次の立ち寄り所がここに出ます。',
  offRoute: (far, direction) =>
    `ルートから離れています。ルートはあなたの${direction}へ約 ${far} です。戻ると、次の立ち寄り所がここに出ます。`,
  directions: ['北', '北東', '東', '南東', '南', '南西', '西', '北西'],
  lastStation: '最後の立ち寄り所を過ぎました。',
  placeOf: (time) => `${time} の位置から計算しています。`,
  stationAt: (km, time) => `${km}\u00a0km、${time} ごろ`,
  stationFar: (km) => `${km}\u00a0km`,
  estimateLater: (minutes) => `あと ${minutes}\u00a0分ほど歩くと、着く時刻がここに出ます。`,
  estimate: (kmh) => `時刻はあなたの速さ（休憩を含めて時速 ${kmh}\u00a0km）からの見込みです。`,
  asOf: (time) => `${time} 現在`,
  withoutPending: '最新の位置はまだ届いていません。',
  checkInsOfDay: 'この日のチェックイン',
  notCounted: 'ルートから離れているため数えません',
}
