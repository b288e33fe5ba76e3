/** Whether an SOS would alert no one, so that only an open console shows it. */
import type { Data } from '#shared/client/index.ts'

/** Also false while unknown. */
export const reachesNobody = ({ sos }: Pick<Data<'readCondition'>['alerting'], 'sos'>): boolean =>
  sos !== null && sos.line + sos.web_push === 0
