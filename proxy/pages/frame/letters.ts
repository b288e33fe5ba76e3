/** The size of the letters, and of everything that is measured by them. */
import { displayChoice } from './display-choice.ts'

export type Letters = 'normal' | 'larger' | 'largest'
export const LETTERS: readonly Letters[] = ['normal', 'larger', 'largest']

export const { chosen: letters, choose: chooseLetters } = displayChoice('letters', LETTERS, 'normal')
