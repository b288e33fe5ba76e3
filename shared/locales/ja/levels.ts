export const levels: readonly string[] = [
  '煉気香客',
  '築基香客',
  '金丹香客',
  '元嬰香客',
  '化神香客',
  '煉虚香客',
  '合体香客',
  '大乗香客',
  '飛昇香客',
]
