/** Data files that pages load, by name. Each function makes the file's text. */
export const DATA_FILES: Readonly<Record<string, () => string>> = {}
