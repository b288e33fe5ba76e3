import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseObjectsUrl } from '#shared/stores/objects/open-objects.ts'

describe('OBJECTS_URL', () => {
  test.each([
    ['file:/var/objects', { driver: 'disk', directory: '/var/objects' }],
    ['file:///var/my%20objects/', { driver: 'disk', directory: '/var/my objects' }],
    ['file:./objects', { driver: 'disk', directory: join(process.cwd(), 'objects') }],
    ['s3://cards-2026', { driver: 's3', bucket: 'cards-2026', prefix: '' }],
    ['s3://cards-2026/walk/a/', { driver: 's3', bucket: 'cards-2026', prefix: 'walk/a/' }],
  ] as const)('%s', (url, place) => {
    expect(parseObjectsUrl(url)).toEqual(place)
  })

  test.each([
    '',
    'file:',
    'file://host/x',
    's3://',
    's3://B',
    's3://bucket/../x',
    '/var/objects',
    'https://x',
  ])('refuses %j', (url) => {
    expect(() => parseObjectsUrl(url)).toThrow(TypeError)
  })
})
