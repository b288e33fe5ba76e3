/** What the bots of chats and timelines send, and read of a page. */

/** How the bots of LINE, Facebook and X introduce themselves. They run no script and send no cookie. */
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
