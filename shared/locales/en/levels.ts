/** Names of the levels, level 1 first, where the owner has set none. */
export const levels: readonly string[] = [
  'Qi Refining Pilgrim',
  'Foundation Pilgrim',
  'Golden Core Pilgrim',
  'Nascent Soul Pilgrim',
  'Spirit Pilgrim',
  'Void Pilgrim',
  'Unity Pilgrim',
  'Mahayana Pilgrim',
  'Ascended Pilgrim',
]
