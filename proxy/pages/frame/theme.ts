/** The reader's theme. Without a choice the system decides between light and dark. */
import { displayChoice } from './display-choice.ts'

export type Theme = 'auto' | 'light' | 'dark' | 'sun'
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark', 'sun']

export const { chosen: theme, choose: chooseTheme } = displayChoice('theme', THEMES, 'auto')
