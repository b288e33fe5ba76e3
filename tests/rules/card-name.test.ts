import { expect, test } from 'bun:test'
import { isShownOnCard } from '#shared/core/rules/card-name.ts'
import { settable } from '#shared/runtime/picture-renderer/typesetting.ts'

test.each([
  ['林媽媽', true],
  ['Grandmother Wang', true],
  ['Иван', true],
  ['สมชาย', true],
  ['김민수', true],
  ['はなこ', true],
  ['😀', true],
  ['سلام', false],
  ['שלום', false],
  ['Ann سلام', false],
  ['राम', false],
  ['தமிழ்', false],
])('the app says of %p whether the card shows it: %p', (name, isShown) => {
  expect(isShownOnCard(name)).toBe(isShown)
  expect(settable(name, 'Pilgrim') !== 'Pilgrim').toBe(isShown)
})
