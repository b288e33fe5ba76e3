export const levels: readonly string[] = [
  '煉氣香客',
  '築基香客',
  '金丹香客',
  '元嬰香客',
  '化神香客',
  '煉虛香客',
  '合體香客',
  '大乘香客',
  '飛升香客',
]
