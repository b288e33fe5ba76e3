/** Hours without a point after which a pilgrim who takes part is called silent. */
export const SILENT_HOURS = 3
