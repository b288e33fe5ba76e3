/** Groups client addresses by subscriber. */

const GROUPS = 8

/**
 * The network of one subscriber: an IPv4 address itself, or the /64 of an IPv6 address, whose other half the subscriber
 * can vary freely. Any other text is returned unchanged.
 */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!/^[\da-f:]+(%\S+)?$/i.test(address) || !address.includes(':')) return address
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill('0')
  const whole = [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''))
  return `${whole.slice(0, GROUPS / 2).join(':')}::/64`
}
