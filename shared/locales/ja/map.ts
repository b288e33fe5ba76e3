import type { MapWords } from '../words.ts'
import { figure } from '../units.ts'

export const words: MapWords = {
  standing: {
    active: '開催中',
    paused: '一時停止中',
    ended: '終了しました',
    awaited: '開始前',
    unknown: '読み込み中',
  },
  sentence: {
    ended: '一緒に歩いてくださった皆さま、ありがとうございました。',
    awaited: 'ご参加をお待ちしています。',
  },
  begins: (at) => `開始：${at}`,
  survey: 'アンケート',
  map: (followed) => `${followed}の地図`,
  scan: 'スマホで見る',
  showProcession: (followed) => `${followed}を表示`,
  showRoute: '全行程を表示',
  detailed: '詳細地図',
  detailedUnsupported: 'このブラウザーでは詳細地図を表示できません。',
  detailedAway: '今は詳細地図を読み込めません。',
  procession: (followed) => `${followed}の現在地`,
  lastSeen: (time) => `最終確認 ${time}`,
  leaderSilent: (leader, time) =>
    `${leader}の位置が最後に届いたのは ${time} です。時刻と距離は人の流れから計算しています。`,
  part: { front: '先頭', middle: '中央', tail: '最後尾' },
  near: (station) => `${station}付近`,
  between: (from, to) => `${from}と${to}の間`,
  length: (km) => `長さ ${km}`,
  scattered: (km) => `先頭から最後まで ${km}`,
  speed: (kmh) => `時速 ${kmh} km`,
  resting: '休憩中',
  positionsOld: (hours) => `一部の位置は ${hours} 時間前`,
  nobody: '地図上にはまだ誰もいません。',
  achieved: (pilgrims, km, kg) => `巡礼者 ${figure(pilgrims)} 人、${km} km、CO₂削減 ${kg} kg`,
  onMap: (pilgrims) => `地図上の巡礼者は ${figure(pilgrims)} 人`,
  crowdNote: (fewest) =>
    fewest > 1
      ? `${fewest} 人以上いる場所だけを表示します。`
      : '一人だけの位置が 10\u00a0m 以内の誤差で表示されることがあります。',
  me: '自分',
  whereAmI: '現在地',
  meToProcession: (km) => `一行の中央まで約 ${km}（直線距離）です。`,
  meDenied: '位置情報が許可されていません。ブラウザーの設定で許可できます。',
  meUnknown: '現在地が分かりません。屋外でもう一度お試しください。',
  mePrivate: '位置はこの端末だけで使い、送信しません。',
  nextStation: '次の駅',
  planned: (time) => `予定 ${time}`,
  about: (time) => `${time} ごろ`,
  hours: (from, to) => `${from}〜${to}時`,
  days: ['今日', '明日'],
  parts: ['未明', '午前', '午後', '夜'],
  partOfDay: (day, part) => `${day}の${part}`,
  distance: 'あと',
  stations: '道中の駅',
  myStation: '待つ場所',
  chooseStation: '待つ場所を選ぶ',
  middleAt: (time) => `中央 ${time}`,
  toGo: (km) => `あと ${km}`,
  passed: '通過済み',
  passedStations: (count) => `${count}か所を通過`,
  passing: '通過中',
  somePassed: '一部の人が通過',
  tailPassed: 'すべて通過しました',
  tellMe: '近づいたら知らせる',
  toldHere: 'このページを開いたままにしてください。近づくとお知らせします。',
  toldDenied: '通知が許可されていません。近づいたらこのページに表示します。',
  soon: (followed, station, minutes) => `${followed}はあと約 ${minutes} 分で${station}に着きます`,
  arrived: (station) => `先頭が${station}に着きました`,
  loading: '最新の情報を読み込んでいます…',
  old: (time, ago) => `${time} の状況（${ago}）。`,
  tooOld: '長く新しい情報がないため、人の多さを表示していません。',
  ago: (minutes) =>
    minutes < 60
      ? `${minutes} 分前`
      : minutes < 1440
        ? `${Math.round(minutes / 60)} 時間前`
        : `${Math.round(minutes / 1440)} 日前`,
  crowdStale: '人の多さは今、更新できません。',
}
