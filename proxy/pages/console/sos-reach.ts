/** Whether an SOS would alert nobody, so that only an open console shows it. */
import type { Data } from '#shared/client/index.ts'

/** False also while that is not known. */
export const reachesNobody = ({ sos }: Pick<Data<'readCondition'>['alerting'], 'sos'>): boolean =>
  sos !== null && sos.line + sos.web_push === 0
