/** The address that dials a number. @param number with blanks, hyphens and parentheses as people write it */
export const telephoneUri = (number: string): string => `tel:${number.replaceAll(/[^\d+]/g, '')}`
