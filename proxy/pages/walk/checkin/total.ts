/** The pilgrim's check-ins: those that the service has counted, and those that wait. */
import { computed } from '@preact/signals'
import { waiting } from '../session/queue.ts'
import { tally } from '../session/service.ts'

export const totalCheckIns = computed(() => tally.value.counted + (waiting.value?.waiting.checkIns ?? 0))
