/** The pilgrim's check-ins: those that the service has counted, those that wait, and those that were just sent. */
import { computed, effect, signal } from '@preact/signals'
import { waiting } from '../session/queue.ts'
import { profile } from '../session/service.ts'

const waits = computed(() => waiting.value?.waiting.checkIns ?? 0)
/** Sent since the profile was read: it does not include them yet, and the number must not fall in between. */
const sent = signal(0)

let before = 0
effect(() => {
  if (waits.value < before) sent.value = sent.peek() + before - waits.value
  before = waits.value
})
effect(() => {
  void profile.value
  sent.value = 0
})

export const totalCheckIns = computed(() => (profile.value?.checkins ?? 0) + waits.value + sent.value)
