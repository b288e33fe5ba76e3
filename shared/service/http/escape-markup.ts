/** Writes HTML and XML. */

export const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Text that is already markup, in a template of {@link markup}. */
export const raw = (written: string) => ({ written })

/** Builds markup; escapes every value of the template. */
export const markup = (
  parts: TemplateStringsArray,
  ...values: (string | number | boolean | ReturnType<typeof raw>)[]
): string =>
  String.raw(
    { raw: parts },
    ...values.map((value) => (typeof value === 'object' ? value.written : escapeMarkup(String(value)))),
  )
