/** Requests of chat and timeline bots, and what they read from a page. */

/** User agents of the bots of LINE, Facebook and X. They run no scripts and send no cookies. */
export const BOTS = [
  'facebookexternalhit/1.1;line-poker/1.0',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Twitterbot/1.0',
]

/** The page's meta elements, by name. */
export const metaOf = (html: string): Map<string, string> =>
  new Map(
    [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)].map(([, name, content]) => [
      name!,
      content!,
    ]),
  )
