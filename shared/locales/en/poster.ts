/** The poster that an organiser prints, in English: the pattern of the other languages. */
export const words = {
  join: 'Walk with us on your phone',
  steps: ['Scan the code with your camera', 'Agree, and choose a name', 'Touch the seal to check in'],
  walk: 'Join and check in',
  map: 'Watch on the map',
  emergency: (number: string) => `Emergency: ${number}`,
  organiser: (number: string) => `Organisers: ${number}`,
}
