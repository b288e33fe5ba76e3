import type { BotWords } from '../words.ts'
import { figure } from '../units.ts'
import { levels } from './levels.ts'

export const bot: BotWords = {
  language: 'ja',
  levels,
  followed: '行列',
  labels: {
    checkin: 'チェックイン',
    help: 'ヘルプ',
    level: '私のレベル',
    carbon: '私のCO2',
    card: '私のカード',
    share: 'シェア',
    survey: 'アンケート',
    map: '地図',
    report: '報告・ご意見',
    data: '私のデータ',
    about: 'イベントについて',
  },
  chatBar: '巡礼メニュー',
  open: '開く',
  welcome: (event) =>
    `「${event}」へようこそ！下のメニューからチェックインすると、歩いた道のりが記録されます。`,
  unknown: 'すみません、その言葉はまだ分かりません。ご希望の項目をお選びください。',
  emergency: {
    call: (number) => `緊急時は ${number} に電話`,
    callLocal: '緊急時は現地の緊急通報番号に電話してください',
    organisers: '主催者に電話',
    automatic:
      'これは自動返信です。このトークを見て助けに向かう人はいません。電話で今いる場所を伝えてください。',
  },
  sos: {
    title: (name) => `🆘 SOS：${name}`,
    many: (unconfirmed, withPoints) =>
      `🆘 未確認の SOS が ${figure(unconfirmed)} 件。うち ${figure(withPoints)} 件は歩いた記録のある人から`,
    unconfirmed: (minutes) => `${figure(minutes)} 分間、誰も確認していません。`,
    pressed: '押した時刻',
    place: '場所',
    lastPlace: '最後にわかっている場所',
    phone: '電話',
    unknown: '不明',
    call: '本人に電話',
    map: '場所を表示',
    console: '管理画面を開く',
    confirm: '管理画面で確認してください。誰が対応しているかがほかの人に伝わります。',
  },
  checkin:
    'ボタンを押してチェックインページを開き、位置情報を許可してください。圏外でも記録でき、つながったときに自動で送信されます。',
  help: [
    'チェックイン：現在地を記録します。',
    '私のレベル：距離、チェックイン回数、次のレベルまでに必要なもの。',
    '私のCO2：道のりの排出量と削減量。',
    '私のカード：シェアできる成績カード。',
    'アンケート：約3分です。',
    'ここに写真を送ると、写真の枚数に加わります。',
  ],
  survey: 'よりよいイベントのため、3分ほどのアンケートにご協力ください。',
  surveyDone: 'アンケートにご回答いただき、ありがとうございます。回答は変更できます。',
  share: (event) => `「${event}」を歩いています。一緒に歩きませんか！`,
  about: (event) => `「${event}」は、巡礼者一人ひとりの距離、チェックイン、レベル、CO2を記録します。`,
  map: (followed) => `${followed}が今どこにいて、各地点にいつ着くかを地図で見られます。`,
  report: '困ったことやご意見を主催者に知らせます。写真も付けられます。',
  data: 'アプリでは、ご自分のデータの確認、保存、削除ができます。',
  location: 'ここに送られた位置情報は記録されません。ボタンを押してチェックインしてください。',
  card: 'あなたのカードです。長押しで保存・シェアできます。',
  noLink: '参加を取り消したため、共有されるものはありません。再び参加するとカードを受け取れます。',
  level: 'レベル',
  distance: '累計距離',
  checkins: 'チェックイン',
  times: (count) => `${count} 回`,
  next: '次のレベル',
  nextNeeds: (km, checkins) => `あと ${km} km、チェックイン ${checkins} 回`,
  top: '最高レベルに到達しました！',
  nothingYet: 'まだ記録がありません。最初のチェックインの後、ここに表示されます。',
  otherWalk:
    'あなたの道のりはアプリに記録されていて、このトークからは見られません。距離、チェックイン、レベル、カードはアプリでご覧ください。',
  incomplete:
    '直近の記録は保存されていますが、まだここには含まれていません。数分後にもう一度お試しください。',
  emitted: 'CO2排出量',
  saved: 'バスと比べた削減量',
  carbonNote: '徒歩と自転車は排出ゼロ、乗り物の区間は種類ごとに計算します。',
  photo: (count) => `写真を受け取りました！これまでに ${count} 枚です。`,
  photos: '写真を受け取りました！',
  paused: (message) =>
    `【イベント一時停止】チェックインと軌跡の受付を停止しています。${message ?? '続報をお待ちください。'}`,
  rehearsal: (event) => `リハーサル：${event}`,
  summaryTitle: (event) => `「${event}」は終了しました`,
  summary: (pilgrims, checkins, km, savedKg) =>
    `${figure(pilgrims)} 人の巡礼者が ${figure(km)} km（乗り物を含む）を進み、${figure(checkins)} 回チェックインし、バスと比べて ${figure(savedKg)} kg のCO2を減らしました。ありがとうございました。`,
  personOnly: '友だちに追加していただくと、1対1のトークでご自身の記録をご覧いただけます。',
}
