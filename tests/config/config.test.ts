/** The configuration: read completely, rejected with every fault named, and documented correctly. */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, readConfig, SETTING_NAMES, unknownSettings } from '#shared/runtime/config/config.ts'
import { newPushKeys } from '#tests/helpers/push-service.ts'

const root = join(import.meta.dir, '../..')
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env, true)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

const TOKEN = 'token-of-16-char'

describe('the configuration', () => {
  test('reports all faults together', () => {
    const faults = faultsOf({
      EVENT_PARTITIONS: '0',
      EVENT_TIMEZONE: 'Mars/Olympus',
      EVENT_IDENTITY: 'maybe',
      EVENT_ADMIN_TOKEN: TOKEN,
      EVENT_MANAGER_TOKEN: TOKEN,
      EVENT_AREA: '/nowhere/area.json',
      EVENT_ROUTE: '/nowhere/route.json',
      EVENT_ENV: 'production',
      LINE_LOGIN_CHANNEL_ID_FILE: '/nowhere/id',
    })
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(
      new Set([
        'EVENT_AREA',
        'EVENT_IDENTITY',
        'EVENT_MANAGER_TOKEN',
        'EVENT_PARTITIONS',
        'EVENT_ROUTE',
        'EVENT_TIMEZONE',
        'LINE_CHANNEL_SECRET',
        'LINE_LOGIN_CHANNEL_ID_FILE',
      ]),
    )
  })

  test('takes keys of Web Push that are a pair, and refuses others before anybody subscribes with them', () => {
    expect(readConfig({}).push).toBeNull()
    const [keys, others] = [newPushKeys(), newPushKeys()]
    expect(readConfig(keys).push).toMatchObject({
      publicKey: keys.EVENT_PUSH_PUBLIC_KEY,
      subject: 'mailto:event@example.com',
      services: expect.arrayContaining(['fcm.googleapis.com', '*.push.apple.com']),
    })
    const refused = (change: Record<string, string>, name: string) =>
      expect(faultsOf({ ...keys, ...change })).toEqual([expect.stringContaining(name)])
    refused({ EVENT_PUSH_PRIVATE_KEY: others.EVENT_PUSH_PRIVATE_KEY }, 'EVENT_PUSH_PRIVATE_KEY')
    refused({ EVENT_PUSH_PRIVATE_KEY: '' }, 'EVENT_PUSH_PRIVATE_KEY')
    refused({ EVENT_PUSH_PUBLIC_KEY: '' }, 'EVENT_PUSH_PUBLIC_KEY')
    const toldByUrl = { EVENT_PUSH_SUBJECT: '', EVENT_PUBLIC_URL: 'https://walk.example.org' }
    expect(readConfig({ ...keys, ...toldByUrl }).push!.subject).toBe('https://walk.example.org')
    for (const subject of [
      'somebody',
      '',
      'mailto:x@localhost',
      'mailto:x@host.invalid',
      'https://localhost:8443',
      'https://192.168.1.10',
      'https://[fd00::1]/',
      'https://printer.local',
    ])
      refused({ EVENT_PUSH_SUBJECT: subject }, 'EVENT_PUSH_SUBJECT')
    refused({ EVENT_PUSH_SERVICES: 'https://push.example/x' }, 'EVENT_PUSH_SERVICES')
  })

  test('reports misspelt names of settings', () => {
    const misspelt = ['EVENT_ADMN_TOKEN', 'EVENT_FLUSH_SECOND_FILE', 'LINE_CHANEL_SECRET', 'S3_REGIN']
    const others = [
      'EVENT_FILES',
      'LINE_BOT_UPSTREAM',
      'PATH',
      'EVENT',
      'DATABASE_URL',
      'EVENT_ADMIN_TOKEN_FILE',
      ...SETTING_NAMES,
    ]
    expect(unknownSettings(Object.fromEntries([...misspelt, ...others].map((name) => [name, 'x'])))).toEqual(
      misspelt,
    )
  })

  test('reports for each fault what the setting accepts', () => {
    const faults = {
      EVENT_PORT: ['abc', 'must be a number'],
      EVENT_HOST: ['my host', 'must be an address to listen on, such as 127.0.0.1 or 0.0.0.0'],
      EVENT_FLUSH_SECONDS: ['-1', 'must be at least 1'],
      EVENT_IDENTITY: ['maybe', 'must be "open" or "line"'],
      EVENT_PUBLIC_URL: ['localhost', 'must be a whole address, such as https://example.org'],
      DATABASE_URL: ['mysql://database/event', 'must begin with postgres://'],
      REDIS_URL: ['redis:6379', 'must begin with redis://'],
    }
    for (const [name, [value, sentence]] of Object.entries(faults))
      expect(faultsOf({ [name]: value! })).toEqual([`${name}: ${sentence}`])
    expect(faultsOf({ DATABASE_URL: 'postgresql://a,b/event', REDIS_URL: 'redis://a,redis://b' })).toEqual([])
  })

  test('a route is a line, and any other content of the file is a fault', () => {
    const dir = mkdtempSync(join(tmpdir(), 'event-route-'))
    try {
      const file = join(dir, 'route.json')
      const withRoute = (content: string) => {
        writeFileSync(file, content)
        return { EVENT_ROUTE: file }
      }
      const line = {
        type: 'LineString',
        coordinates: [
          [120, 24, 12.5],
          [120, 24.1],
        ],
      }
      const env = withRoute(JSON.stringify({ type: 'Feature', geometry: line }))
      expect(readConfig(env).event.route!.project({ lat: 24.05, lng: 120.1 }).alongM).toBeWithin(5_500, 5_620)
      expect(readConfig({}).event.route).toBeNull()
      for (const content of [
        '{',
        '{"type":"Point","coordinates":[1,2]}',
        JSON.stringify({ ...line, coordinates: [[120, 24]] }),
      ])
        expect(faultsOf(withRoute(content))).toEqual([expect.stringContaining('EVENT_ROUTE: ')])
      expect(faultsOf({ EVENT_ROUTE: join(dir, 'nothing.json') })).toHaveLength(1)
      const point = (properties: object) => ({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [120, 24] },
        properties,
      })
      const points = [{ name: 'A' }, { kind: 'water' }].flatMap((one, i) =>
        Array.from({ length: 200 + i }, () => point(one)),
      )
      const features = [{ type: 'Feature', geometry: line }, ...points]
      expect(faultsOf(withRoute(JSON.stringify({ type: 'FeatureCollection', features })))).toEqual([
        'EVENT_ROUTE: has 201 places; a route may have 200',
      ])
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('the bot’s links lead to the app, unless they are set', () => {
    expect(readConfig({ EVENT_PUBLIC_URL: 'https://walk.example/' })).toMatchObject({
      checkinUrl: 'https://walk.example/walk/',
      surveyUrl: 'https://walk.example/walk/#survey',
    })
    const EVENT_CHECKIN_URL = 'https://liff.line.me/1'
    expect(readConfig({ EVENT_CHECKIN_URL }).checkinUrl).toBe(EVENT_CHECKIN_URL)
  })

  test('the emergency number is that of the time zone until an owner sets one', () => {
    const numberIn = (EVENT_TIMEZONE: string) =>
      readConfig({ EVENT_TIMEZONE }).event.parts.contact.emergency_number
    expect(readConfig({}).event.parts.contact).toEqual({ emergency_number: '119', organiser_phone: null })
    expect(['Europe/Madrid', 'Atlantic/Canary', 'Europe/London'].map(numberIn)).toEqual(['112', '112', '112'])
    expect(['Asia/Tokyo', 'America/Lima', 'UTC'].map(numberIn)).toEqual([null, null, null])
  })

  test.each([
    'EVENT_STARTS_AT',
    'EVENT_ENDS_AT',
    'EVENT_LANGUAGE',
    'EVENT_EMERGENCY_NUMBER',
    'EVENT_ORGANISER_PHONE',
  ])('%s has moved: a start with it is refused with where it is now', (name) => {
    for (const given of [name, `${name}_FILE`]) {
      expect(faultsOf({ [given]: 'x' })).toEqual([
        expect.stringMatching(new RegExp(`^${given}: .*console, in the view Event`)),
      ])
      expect(unknownSettings({ [given]: 'x' })).toEqual([])
      // Compose and Kubernetes pass empty variables on.
      expect(faultsOf({ [given]: ' ' })).toEqual([])
    }
  })

  test('production needs the channel secret; identity by LINE needs its channel', () => {
    const production = { EVENT_ENV: 'production', EVENT_IDENTITY: 'open' }
    expect(faultsOf(production)).toEqual([expect.stringContaining('LINE_CHANNEL_SECRET')])
    expect(readConfig(production)).toMatchObject({ env: 'production' })
    expect(faultsOf({ EVENT_IDENTITY: 'line' })).toEqual([expect.stringContaining('LINE_LOGIN_CHANNEL_ID')])
    expect(faultsOf({ ...production, LINE_CHANNEL_SECRET: 'x' })).toEqual([])
  })

  test('production starts only with an identity that somebody has chosen, in every service', () => {
    for (const isBot of [true, false])
      for (const EVENT_IDENTITY of [undefined, '', ' '])
        expect(() =>
          readConfig({ EVENT_ENV: 'production', LINE_CHANNEL_SECRET: 'x', EVENT_IDENTITY }, isBot),
        ).toThrow('EVENT_IDENTITY: must be chosen in production')
    expect(readConfig({}).identity).toBe('open')
    const line = { EVENT_ENV: 'production', EVENT_IDENTITY: 'line', LINE_LOGIN_CHANNEL_ID: '1' }
    expect(readConfig(line).identity).toBe('line')
  })

  test('an unset or blank token admits nobody; several are distinguished; the same token twice is refused', () => {
    expect(readConfig({ EVENT_ADMIN_TOKEN: '  ' }).tokens).toEqual([])
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(16)) as [string, string, string]
    expect(
      readConfig({ EVENT_MANAGER_TOKEN: `lin:${a},chen:${b}`, EVENT_VOLUNTEER_TOKEN: c }).tokens,
    ).toEqual([
      { name: 'lin', role: 'manager', value: a },
      { name: 'chen', role: 'manager', value: b },
      { name: 'volunteer', role: 'volunteer', value: c },
    ])
    expect(faultsOf({ EVENT_ADMIN_TOKEN: a, EVENT_MANAGER_TOKEN: `x:${a}` })).toHaveLength(1)
    expect(faultsOf({ EVENT_ADMIN_TOKEN: `${a},,${b}` })).toEqual([expect.stringContaining('empty token')])
  })

  test('a token that can be guessed is refused, and never shown', () => {
    for (const short of ['Q7', 'Xq9v', `lin:${'x'.repeat(15)}`, 'x'.repeat(15), ':1', 'Xq9v:1'])
      for (const variable of ['EVENT_ADMIN_TOKEN', 'EVENT_MANAGER_TOKEN', 'EVENT_VOLUNTEER_TOKEN']) {
        const [fault, ...others] = faultsOf({ [variable]: `${TOKEN},${short}` })
        expect(others).toEqual([])
        expect(fault).toStartWith(`${variable}: a token has at least 16 characters`)
        expect(fault).not.toContain(short.split(':').at(-1)!.padEnd(2))
      }
  })

  test.each([
    ['a token without a name', TOKEN, 'owner', TOKEN],
    ['the longest name', `${'n'.repeat(15)}:${TOKEN}`, 'n'.repeat(15), TOKEN],
    ['a name of any script', `阿明:${TOKEN}`, '阿明', TOKEN],
    ['a token with a colon', `${TOKEN}:1`, 'owner', `${TOKEN}:1`],
    ['a token that ends with one', `${TOKEN}:`, 'owner', `${TOKEN}:`],
    ['a named one', `anna:${TOKEN}:1`, 'anna', `${TOKEN}:1`],
    ['a named one of two halves', `anna:${TOKEN}:${TOKEN}`, 'anna', `${TOKEN}:${TOKEN}`],
    ['one that begins with a colon', `:${TOKEN}:${TOKEN}`, 'owner', `${TOKEN}:${TOKEN}`],
  ])('of a name and a token, %s', (_, given, name, value) => {
    expect(readConfig({ EVENT_ADMIN_TOKEN: given }).tokens).toEqual([{ name, role: 'owner', value }])
  })

  test('an entry whose name may be the token is refused', () => {
    expect(faultsOf({ EVENT_ADMIN_TOKEN: `${TOKEN}:${TOKEN}` })).toEqual([
      expect.stringMatching(/^EVENT_ADMIN_TOKEN: which part is the token\?/),
    ])
  })

  test('origins are accepted as browsers send them, and others are refused with a suggestion', () => {
    for (const right of ['*', 'https://a.example', 'https://a.example, http://localhost:5173', ''])
      expect(faultsOf({ EVENT_CORS_ORIGINS: right })).toEqual([])
    expect(
      readConfig({ EVENT_CORS_ORIGINS: ' https://a.example ,https://b.example:8443' }).corsOrigins,
    ).toEqual(['https://a.example', 'https://b.example:8443'])
    const wrong = [
      ['https://a.example/', 'write https://a.example'],
      ['https://A.example', 'write https://a.example'],
      ['https://a.example:443', 'write https://a.example'],
      ['https://a.example/app', 'write https://a.example'],
      ['https://walk.台灣', 'write https://walk.xn--kpry57d'],
      ['a.example', 'write it like https://'],
      ['null', 'write it like https://'],
      ['ftp://a.example', 'write it like https://'],
      ['https://*.example', 'is not an origin'],
      ['https://a.example" || true || "', 'is not an origin'],
    ] as const
    for (const [origin, meant] of wrong)
      expect(faultsOf({ EVENT_CORS_ORIGINS: `https://b.example,${origin}` })).toEqual([
        expect.stringMatching(new RegExp(`^EVENT_CORS_ORIGINS: .*${meant.replaceAll('.', '\\.')}`)),
      ])
    expect(faultsOf({ EVENT_CORS_ORIGINS: '*,https://a.example' })).toEqual([
      expect.stringContaining('means all origins and must be the only entry'),
    ])
  })

  test('a secret may be in a file; the variable itself takes precedence; a missing file is a fault', () => {
    const dir = mkdtempSync(join(tmpdir(), 'event-config-'))
    try {
      const file = join(dir, 'token')
      writeFileSync(file, 'token-from-a-file\n')
      expect(readConfig({ EVENT_ADMIN_TOKEN_FILE: file }).tokens[0]?.value).toBe('token-from-a-file')
      expect(readConfig({ EVENT_ADMIN_TOKEN_FILE: file, EVENT_ADMIN_TOKEN: TOKEN }).tokens[0]?.value).toBe(
        TOKEN,
      )
      expect(faultsOf({ EVENT_ADMIN_TOKEN_FILE: join(dir, 'none') })).toEqual([
        expect.stringContaining('EVENT_ADMIN_TOKEN_FILE'),
      ])
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  test('backups are scheduled where a folder is named or data are embedded, and none is kept for over 30 days', () => {
    const of = (hours: string, keep: string) => ({
      EVENT_BACKUP_DIR: '/backups',
      EVENT_BACKUP_HOURS: hours,
      EVENT_BACKUP_KEEP: keep,
    })
    expect(readConfig({ DATABASE_URL: 'postgres://db/event' }).backup).toBeNull()
    expect(readConfig({ EVENT_DATA_DIR: '/d' }).backup).toMatchObject({
      dir: '/d/backups',
      maxBytes: 4_294_967_296,
    })
    expect(readConfig({ EVENT_BACKUP_DIR: '/backups' }).backup).toEqual({
      dir: '/backups',
      maxBytes: Infinity,
      everyMs: 86_400_000,
      keep: 7,
    })
    expect(readConfig(of('0', '7')).backup).toMatchObject({ dir: '/backups', everyMs: 0 })
    expect(readConfig(of('1', '720')).backup).toMatchObject({ everyMs: 3_600_000, keep: 720 })
    expect(faultsOf(of('24', '31'))).toEqual([expect.stringMatching(/^EVENT_BACKUP_KEEP: .*at most 30 days/)])
  })

  test('docker-compose.yml passes every setting to the services', () => {
    // These are set by the container or the embedded run.
    for (const name of SETTING_NAMES)
      if (!['PORT', 'EVENT_PORT', 'EVENT_HOST'].includes(name))
        expect({ name, passed: new RegExp(`^  ${name}:`, 'm').test(compose) }).toEqual({ name, passed: true })
  })
})
