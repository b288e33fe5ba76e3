import type { PageWords } from '../page-words.ts'

export const page: PageWords = {
  language: '语言',
  theme: '画面颜色',
  themes: { auto: '自动', light: '明亮', dark: '夜间', sun: '大太阳' },
  close: '关闭',
  cancel: '取消',
  more: '展开',
  less: '收起',
  settings: '设置',
  levels: [
    '炼气香客',
    '筑基香客',
    '金丹香客',
    '元婴香客',
    '化神香客',
    '炼虚香客',
    '合体香客',
    '大乘香客',
    '飞升香客',
  ],
}
