/** The owner's settings of the event: they apply everywhere within ten seconds, without a restart. */
import { describe, expect, test } from 'bun:test'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import {
  eventConfigEndpoint,
  eventNoticeEndpoint,
  type SurveyForm,
  surveyFormEndpoint,
  translatedWordsEndpoint,
} from '#shared/contracts/event-config.ts'
import {
  eventSettingsEndpoint,
  setEventNameEndpoint,
  setTranslationEndpoint,
  translationTableEndpoint,
} from '#shared/contracts/event-settings.ts'
import { type EventMap, mapEndpoint, routeEndpoint } from '#shared/contracts/map.ts'
import { drawCardEndpoint } from '#shared/contracts/cards.ts'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { surveysEndpoint } from '#shared/contracts/reports.ts'
import { submitEndpoint } from '#shared/contracts/survey.ts'
import { checkInEndpoint } from '#shared/contracts/tracking.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import { eventOf } from '#proxy/pages/build.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { admin, callAs, newAppId, readAs } from '#tests/helpers/test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const ENVIRONMENT = { EVENT_NAME: '媽祖進香' }
const NAMES = { 'zh-Hant': '奈梅亨四日行', en: 'Nijmegen Four Days' }
const DATES = { starts_at: '2026-07-21T04:00:00+02:00', ends_at: '2026-07-24T18:00:00+02:00' }

const PLANNED = '2099-07-21T06:00:00.000Z'
/** Eleven kilometres northward. */
const ROUTE = {
  lines: [[5_200_000, 580_000, 10_000, 0]],
  stations: [
    { lat: 52.09, lng: 5.8, names: { en: 'North' }, km: null, planned_at: PLANNED },
    { lat: 52.02, lng: 5.8, names: { 'zh-Hant': '南宮', en: 'South' }, km: null, planned_at: null },
  ],
  margin_km: 2,
}
const WATER = { lat: 52.05, lng: 5.8, kind: 'water', names: { en: 'Well' }, hours: '06:00–22:00' }
const PLACES = [{ lat: 52.03, lng: 5.801, kind: 'toilet', names: {}, hours: null }, WATER]

const TOO_MANY_TEXTS = Object.fromEntries(
  Array.from({ length: 102 }, (_, i) => [`walk.${i}`, 'x'.repeat(980)]),
)
const TEXT = { kind: 'text', ask: { en: 'What?' }, choices: [] }
const CHOICE = { value: 'a', names: { en: 'A' } }

describeBothStacks(
  'what describes the event',
  (stack) => {
    const settings = async () => dataOf(await readAs(stack, 'owner', 'admin/settings'), eventSettingsEndpoint)
    const put = (part: string, body: object) => callAs(stack, 'owner', 'PUT', `admin/settings/${part}`, body)
    const config = async () => dataOf(await stack.fetch('/api/event/config'), eventConfigEndpoint)
    const map = async () => (await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)) as EventMap

    test('has at first the name of the environment, as its first version', async () => {
      const first = await until(async () => {
        const read = await settings()
        return read.name.version > 0 ? read : null
      }, 'the name to be stored')
      expect(first.name).toMatchObject({
        value: { names: { 'zh-Hant': '媽祖進香' }, starts_at: null, ends_at: null },
        changed_by: null,
      })
      expect(first.contact).toMatchObject({
        value: { emergency_number: '119', organiser_phone: null },
        version: 0,
      })
      expect(await config()).toMatchObject({ name: '媽祖進香', emergency_number: '119' })
    })

    test('is changed by an owner alone, and every answer says which version it used', async () => {
      const { version } = await settings()
      const body = { names: NAMES, ...DATES, version }
      expect((await callAs(stack, 'manager', 'PUT', 'admin/settings/name', body)).status).toBe(403)
      const { name, version: now } = await dataOf(await put('name', body), setEventNameEndpoint)
      expect(now).toBe(version + 1)
      expect(name).toMatchObject({
        version: now,
        value: { names: NAMES, starts_at: '2026-07-21T02:00:00.000Z', ends_at: '2026-07-24T16:00:00.000Z' },
      })
      expect(await config()).toMatchObject({
        names: NAMES,
        settings_version: now,
        starts_at: '2026-07-21T02:00:00.000Z',
      })
      const { event } = await until(async () => {
        const read = await map()
        return read.event.settings_version === now ? read : null
      }, 'the map to follow')
      expect(event).toMatchObject({
        name: NAMES['zh-Hant'],
        names: NAMES,
        ends_at: '2026-07-24T16:00:00.000Z',
      })
      const { items } = await dataOf(
        await readAs(stack, 'owner', 'admin/audit?action=set-event&limit=1'),
        auditEndpoint,
      )
      expect(items[0]!.details).toMatchObject({
        part: 'name',
        changes: { names: { from: { 'zh-Hant': '媽祖進香' }, to: NAMES } },
      })
    })

    test('is not overwritten from an older version: the refusal says who changed what', async () => {
      const { version, contact } = await settings()
      const numbers = { emergency_number: '112', organiser_phone: contact.value.organiser_phone }
      expect((await put('contact', { ...numbers, version })).status).toBe(200)
      const stale = await put('contact', { ...numbers, organiser_phone: '+31 24 365 5500', version })
      const sentence = await sentenceOf(stale, 409, 'conflict')
      expect(sentence).toMatch(/by owner\d+ at .*: emergency_number\./)
      expect((await settings()).contact.value).toEqual(numbers)
      // The other part has not changed since, and a repeated call is not a conflict.
      expect((await put('contact', { ...numbers, version })).status).toBe(200)
      expect((await put('name', { names: NAMES, starts_at: null, ends_at: null, version })).status).toBe(200)
    })

    test('offers the languages that the owner has chosen, and English to all other readers', async () => {
      const { version } = await settings()
      const languages = { language: 'zh-Hant', languages: ['zh-Hant', 'ja'] }
      expect((await put('languages', { ...languages, version })).status).toBe(200)
      expect(await config()).toMatchObject(languages)
      const languageOfPage = async (accepted: string) => {
        const page = await stack.fetch('/s/nobody', { headers: { 'Accept-Language': accepted } })
        return /<html lang="([\w-]+)"/.exec(await page.text())?.[1]
      }
      // Each service updates separately.
      await until(async () => (await languageOfPage('zh-CN')) === 'zh-Hant', 'the page of links to follow')
      expect(await languageOfPage('ja')).toBe('ja')
      expect(await languageOfPage('ko, fr;q=0.5')).toBe('en')
    })

    test('offers a further language with the words that the owner has uploaded, without those that are wrong', async () => {
      const { version, languages: before } = await settings()
      const words = {
        'bot.rehearsal': 'Repetitie: {event}',
        'share.goneTitle': 'Deze link toont niets',
        'walk.welcome.title': 'Welkom bij {event}',
        'walk.checkIn.total': '{checkIns} keer',
      }
      const wrong = { 'walk.back': '<i>Terug</i>', 'map.near': 'bij', 'map.nowhere': 'nergens' }
      const body = { language: 'nl', texts: { ...words, ...wrong }, version }
      expect((await callAs(stack, 'manager', 'PUT', 'admin/settings/translation', body)).status).toBe(403)
      const set = await dataOf(await put('translation', body), setTranslationEndpoint)
      expect(set.left_out.map(({ key, fault, detail }) => [key, fault, detail])).toEqual([
        ['walk.back', 'markup', '<'],
        ['map.near', 'placeholder-lost', '{station}'],
        ['map.nowhere', 'unknown-key', ''],
      ])
      expect(set.languages.value).toEqual({
        ...before.value,
        languages: [...before.value.languages, 'nl'],
        translations: { nl: words },
      })
      expect((await config()).languages).toContain('nl')
      expect(await dataOf(await stack.fetch('/api/event/words/nl'), translatedWordsEndpoint)).toEqual({
        language: 'nl',
        texts: words,
        parameters: {
          'bot.rehearsal': ['event'],
          'walk.welcome.title': ['event'],
          'walk.checkIn.total': ['#checkIns'],
        },
      })
      expect((await stack.fetch('/api/event/words/fr')).status).toBe(404)
      const link = async () =>
        (await stack.fetch('/s/nobody', { headers: { 'Accept-Language': 'nl-BE' } })).text()
      // Each service follows by itself.
      await until(async () => (await link()).includes('<html lang="nl"'), 'the page of links to follow')
      expect(await link()).toContain(words['share.goneTitle'])
      // What is not translated.
      expect(await link()).toContain(SHARE_WORDS.en.gone)
      const { rows } = await dataOf(
        await readAs(stack, 'owner', 'admin/settings/translations/nl'),
        translationTableEndpoint,
      )
      expect(rows.find(({ key }) => key === 'walk.welcome.title')).toEqual({
        key: 'walk.welcome.title',
        english: 'Welcome to {event}',
        own: '歡迎參加{event}',
        text: words['walk.welcome.title'],
        placeholders: ['event'],
        max: expect.any(Number),
      })
      const { items } = await dataOf(
        await readAs(stack, 'owner', 'admin/audit?action=set-event&limit=1'),
        auditEndpoint,
      )
      expect(items[0]!.details).toMatchObject({
        part: 'languages',
        changes: { translations: { to: { nl: words } } },
      })
    })

    test('has a version for the notice of a translation, which asks its readers again when it changes', async () => {
      const notice = { 'walk.welcome.consent.0': 'De organisatie krijgt je plaats.' }
      const words = async (texts: object) => {
        const { version } = await settings()
        expect((await put('translation', { language: 'nl', texts, version })).status).toBe(200)
        const { texts: shown } = await dataOf(
          await stack.fetch('/api/event/words/nl'),
          translatedWordsEndpoint,
        )
        const { privacy_editions: editions } = await config()
        // The page agrees to what it shows.
        expect(editions).toEqual([shown['walk.welcome.edition']].filter((shown) => shown !== undefined))
        return editions
      }
      const { privacy_version: before } = await config()
      const userId = newAppId()
      await post(stack, 'checkin', { user_id: userId, lat: 52.03, lng: 5.8 })
      const { url } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
      const picture = async () => {
        const page = await (await stack.fetch(new URL(url).pathname)).text()
        return /property="og:image" content="([^"]+)"/.exec(page)![1]
      }
      expect(await words({ 'walk.back': 'Terug' })).toEqual([])
      const [first] = await words({ ...notice, 'walk.back': 'Terug' })
      expect(first).toMatch(/^\.nl-\w+$/)
      const shown = await picture()
      expect(await words({ ...notice, 'share.card.checkins': 'keer' })).toEqual([first!])
      // Chats keep a picture by its URL.
      await until(async () => (await picture()) !== shown, 'the URL of the picture to change')
      const [second] = await words({ 'walk.welcome.consent.0': 'Sponsors krijgen je plaats.' })
      expect(second).not.toBe(first)
      // Readers of other languages are not asked.
      expect((await config()).privacy_version).toBe(before)
      await words({ 'share.goneTitle': 'Deze link toont niets' })
    })

    test('keeps a translation that another owner has changed, and one that is in use', async () => {
      const {
        version,
        languages: { value },
      } = await settings()
      const texts = { 'walk.back': 'Terug' }
      const stale = { language: 'nl', texts, version: version - 1 }
      expect(await sentenceOf(await put('translation', stale), 409, 'conflict')).toContain('translations')
      const own = { language: 'nl', languages: value.languages }
      expect((await put('languages', { ...own, version })).status).toBe(200)
      expect((await settings()).languages.value.translations).toEqual(value.translations)
      const large = { language: 'nl', texts: TOO_MANY_TEXTS, version: version + 1 }
      expect(await sentenceOf(await put('translation', large), 400, 'invalid-request')).toContain(
        '100000 bytes',
      )
      const removed = { language: 'nl', texts: {}, version: version + 1 }
      expect(await sentenceOf(await put('translation', removed), 400, 'invalid-request')).toContain(
        'own language',
      )
      const back = { language: value.language, languages: value.languages, version: version + 1 }
      expect((await put('languages', back)).status).toBe(200)
      expect((await put('translation', { ...removed, version: version + 2 })).status).toBe(200)
      const { languages } = await settings()
      expect([languages.value.languages.includes('nl'), languages.value.translations]).toEqual([false, {}])
      expect((await put('languages', { ...own, version: version + 3 })).status).toBe(400)
    })

    test('walks the route that the owner has saved: map, app, stations, arrival times and area follow', async () => {
      const { version } = await settings()
      expect((await put('route', { ...ROUTE, version })).status).toBe(200)
      const route = await until(async () => {
        const read = await config()
        return read.route
      }, 'the configuration to follow')
      const { event } = await until(async () => {
        const read = await map()
        return read.event.route === route ? read : null
      }, 'the map to follow')
      const shown = await dataOf(await stack.fetch(`/api/event/route?v=${event.route}`), routeEndpoint)
      expect(shown.km).toBeCloseTo(11.1, 1)
      expect(shown.stations.map(({ name, names, route_km }) => [name, names, Math.round(route_km)])).toEqual([
        ['南宮', { 'zh-Hant': '南宮', en: 'South' }, 2],
        ['North', { en: 'North' }, 10],
      ])
      const checkIn = async (lng: number) =>
        dataOf(
          await post(stack, 'checkin', { user_id: crypto.randomUUID(), lat: 52.03, lng }),
          checkInEndpoint,
        )
      await until(async () => !(await checkIn(5.9)).in_range, 'tracking to follow the area')
      expect(await checkIn(5.81)).toMatchObject({ in_range: true })
      const walker = newAppId()
      const { url } = await dataOf(
        await post(stack, 'shares', { user_id: walker, live_hours: 1 }),
        createShareEndpoint,
      )
      await post(stack, 'checkin', { user_id: walker, lat: 52.03, lng: 5.8 })
      const page = await stack.fetch(`${new URL(url).pathname}?lang=en`)
      expect(await page.text()).toMatch(/<strong>North<[^]*6\.7 km/)
      const { front, estimates } = await until(async () => {
        const read = await map()
        return read.front?.route_km ? read : null
      }, 'the crowd to be on the route')
      expect(front!.route_km).toBeCloseTo(3.3, 0)
      expect(estimates).toMatchObject([{ station: 1, middle_at: PLANNED, by: 'plan' }])
      const stale = await put('route', { ...ROUTE, margin_km: 5, version })
      expect(await sentenceOf(stale, 409, 'conflict')).toContain('lines, stations, margin_km')
    })

    test('has places along the way, which a client that knows none leaves as they are', async () => {
      const shown = async () => dataOf(await stack.fetch('/api/event/route'), routeEndpoint)
      const save = async (body: object) =>
        put('route', { ...ROUTE, ...body, version: (await settings()).version })
      expect((await save({ places: PLACES })).status).toBe(200)
      const { places } = await until(async () => {
        const read = await shown()
        return read.places !== undefined && read
      }, 'the route to have places')
      expect(places!.map(({ kind, name, route_km }) => [kind, name, Math.round(route_km)])).toEqual([
        ['toilet', null, 3],
        ['water', 'Well', 6],
      ])
      expect((await save({ margin_km: 3 })).status).toBe(200)
      expect((await settings()).route.value.places).toEqual(PLACES as never)
      expect((await save({ places: [] })).status).toBe(200)
      await until(async () => (await shown()).places === undefined, 'the route to have none')
    })

    test('names its levels, and what is followed: profile, card, link, app and map say so', async () => {
      const userId = newAppId()
      await post(stack, 'user/sync', { user_id: userId, display_name: 'Lin' })
      await post(stack, 'checkin', { user_id: userId, lat: 52.03, lng: 5.8 })
      const name = (palanquin: boolean) =>
        callAs(stack, 'owner', 'PUT', `admin/users/${userId}/palanquin`, { palanquin })
      expect((await name(true)).status).toBe(200)
      await until(
        async () => {
          const points = [{ lat: 52.03, lng: 5.8, timestamp: Date.now() }]
          await post(stack, 'track/sync', { user_id: userId, points })
          return (await map()).palanquin !== null
        },
        'the palanquin to be on the map',
        { everyMs: 4_000, timeoutMs: 60_000 },
      )
      const card = async () => dataOf(await post(stack, 'og-image', { user_id: userId }), drawCardEndpoint)
      const before = await card()
      const { url } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
      const { version } = await settings()
      const levels = LEVELS.map(() => ({}))
      const words = {
        followed: 'walk',
        level_names: [{ 'zh-Hant': '漫步者', en: 'Stroller' }, ...levels.slice(1)],
      }
      expect((await put('words', { ...words, version })).status).toBe(200)
      expect(await config()).toMatchObject(words)
      const profile = await until(async () => {
        const read = await profileOf(stack, userId)
        return read.level_name.en === 'Stroller' ? read : null
      }, 'the profile to follow')
      expect(profile.level_name.zh).toBe('漫步者')
      expect(profile).not.toHaveProperty('palanquin')
      await until(async () => (await card()).etag !== before.etag, 'the card to be drawn again')
      const page = await stack.fetch(new URL(url).pathname, { headers: { 'Accept-Language': 'en' } })
      expect(await page.text()).toMatch(/Stroller[^]*Where is the walk\?/)
      // A walk has no palanquin, even if one was set before.
      const shown = await until(async () => {
        const read = await map()
        return read.event.followed === 'walk' ? read : null
      }, 'the map to follow')
      expect(shown.palanquin).toBeNull()
      expect(await sentenceOf(await name(true), 409, 'conflict')).toContain('A walk')
    })

    test('has a privacy notice of the organiser, and each change is a new version', async () => {
      const { version } = await settings()
      const { privacy_version: first } = await config()
      const notice = {
        organiser: 'Stichting',
        contact: 'avg@walk.example',
        kept_until: '2099-12-31T23:00:00.000Z',
        texts: { en: 'Your rights:\n1. to read' },
      }
      expect((await put('notice', { ...notice, version })).status).toBe(200)
      const { texts, ...named } = notice
      const { privacy_version: second, notice: shown } = await config()
      expect(shown).toEqual({ ...named, has_text: true })
      expect(second).not.toBe(first)
      expect(await dataOf(await stack.fetch('/api/event/notice'), eventNoticeEndpoint)).toEqual({
        version: second,
        texts,
      })
      // Another part leaves it unchanged.
      const { contact, version: later } = await settings()
      expect(
        (await put('contact', { ...contact.value, emergency_number: '911', version: later })).status,
      ).toBe(200)
      expect((await config()).privacy_version).toBe(second)
      expect((await put('notice', { ...notice, texts: {}, version: later + 1 })).status).toBe(200)
      const { privacy_version: third, notice: without } = await config()
      expect(without.has_text).toBe(false)
      expect(third).not.toBe(second)
    })

    test('asks its own questions, and an answer keeps the version that it was given for', async () => {
      const surveys = async () => dataOf(await readAs(stack, 'manager', 'admin/surveys'), surveysEndpoint)
      const form = async () => dataOf(await stack.fetch('/api/event/survey-form'), surveyFormEndpoint)
      const before = await form()
      expect(before).toMatchObject({ version: 0, questions: { length: 10 } })
      const answer = async (survey: object, form_version?: number) =>
        dataOf(await post(stack, 'submit', { user_id: newAppId(), survey, form_version }), submitEndpoint)
      await answer({ q2: 'alone' }, 0)
      await answer({ q2: 'alone' })
      const { version } = await settings()
      const blister = { value: 'blister', names: { en: 'A blister' } }
      const questions = [
        { kind: 'number', ask: { en: 'How many days?' }, choices: [] },
        { kind: 'several', ask: { en: 'What hurt?' }, choices: [blister] },
      ]
      expect((await put('survey', { questions, version })).status).toBe(200)
      expect((await config()).survey_version).toBe(version + 1)
      expect(await form()).toEqual({ version: version + 1, questions } as SurveyForm)
      await answer({ q1: 4, q2: ['blister'] }, version + 1)
      const read = await surveys()
      expect(new Set(read.items.map(({ form_version }) => form_version))).toEqual(
        new Set([0, version + 1, null]),
      )
      // Answers to the first version keep their names.
      expect(read.questions.q2!.ask).toEqual({ en: 'What hurt?' })
      expect(read.questions.q2!.choices.map(({ value }) => value)).toEqual([
        'blister',
        ...before.questions[1]!.choices.map(({ value }) => value),
      ])
      expect(read.counts.q2).toEqual({ alone: 2, blister: 1 })
      const csv = await (
        await stack.fetch('/api/event/admin/surveys', { headers: { ...admin('owner'), Accept: 'text/csv' } })
      ).text()
      expect(csv).toContain('"revision","form_version","q1","q2"')
      expect(csv).toContain(`"1","${version + 1}","4","blister"`)
    })

    test('in a rehearsal every name that is shown says so, in each language, and none after it', async () => {
      const { version, name } = await settings()
      const { names } = name.value
      expect((await put('rehearsal', { on: true, version })).status).toBe(200)
      const english = `Rehearsal: ${names.en ?? names['zh-Hant']!}`
      expect(await config()).toMatchObject({
        rehearsal: true,
        names: { 'zh-Hant': `彩排：${names['zh-Hant']!}`, en: english },
      })
      expect((await settings()).name).toEqual(name)
      const follows = (expected: string) =>
        until(async () => (await map()).event.names.en === expected, 'the map to follow')
      await follows(english)
      const userId = newAppId()
      await post(stack, 'checkin', { user_id: userId, lat: 52.05, lng: 5.8 })
      const { url } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
      const link = async () =>
        (await stack.fetch(new URL(url).pathname, { headers: { 'Accept-Language': 'en' } })).text()
      await until(async () => (await link()).includes(english), 'the page of the link to follow')
      expect((await put('rehearsal', { on: false, version })).status).toBe(409)
      expect((await put('rehearsal', { on: false, version: version + 1 })).status).toBe(200)
      await follows(names.en ?? names['zh-Hant']!)
      expect(await config()).toMatchObject({ rehearsal: false, names })
    })

    test.each([
      ['rehearsal', {}, 'on'],
      ['messages', { welcome: { en: 'x'.repeat(301) }, share: {}, about: {}, summaryTitle: {} }, 'welcome'],
      ['survey', { questions: [] }, 'questions'],
      ['survey', { questions: [{ kind: 'choice', ask: { en: 'What?' }, choices: [] }] }, 'choices'],
      ['survey', { questions: [{ kind: 'text', ask: {}, choices: [] }] }, 'ask'],
      ['survey', { questions: Array.from({ length: 11 }, () => TEXT) }, 'questions'],
      ['survey', { questions: [{ ...TEXT, kind: 'choice', choices: [CHOICE, CHOICE] }] }, 'choices'],
      ['notice', { organiser: 'x'.repeat(201), contact: null, kept_until: null, texts: {} }, 'organiser'],
      ['notice', { organiser: null, contact: null, kept_until: 'later', texts: {} }, 'kept_until'],
      ['notice', { organiser: null, contact: null, kept_until: null, texts: { en: '' } }, 'texts'],
      ['words', { followed: 'parade', level_names: LEVELS.map(() => ({})) }, 'followed'],
      ['words', { followed: 'walk', level_names: [] }, 'level_names'],
      ['words', { followed: 'walk', level_names: LEVELS.map(() => ({ en: 'x'.repeat(61) })) }, 'level_names'],
      ['route', { ...ROUTE, lines: [[1, 2]] }, 'lines'],
      ['route', { ...ROUTE, lines: [[8_999_999, 0, 2, 0]] }, 'lines'],
      ['route', { ...ROUTE, lines: [[5_200_000, 580_000, 0, 0]] }, 'lines'],
      ['route', { ...ROUTE, lines: [] }, 'lines'],
      ['route', { ...ROUTE, margin_km: 0 }, 'margin_km'],
      ['route', { ...ROUTE, stations: [{ ...ROUTE.stations[0], names: {} }] }, 'names'],
      ['route', { ...ROUTE, places: [{ ...WATER, kind: 'beer' }] }, 'kind'],
      ['route', { ...ROUTE, places: [{ ...WATER, hours: 'x'.repeat(61) }] }, 'hours'],
      ['route', { ...ROUTE, places: [{ ...WATER, lat: 91 }] }, 'lat'],
      ['route', { ...ROUTE, places: Array.from({ length: 201 }, () => WATER) }, 'places'],
      ['route', { ...ROUTE, lines: [], stations: [], places: PLACES }, 'lines'],
      ['name', { names: {}, starts_at: null, ends_at: null }, 'names'],
      ['name', { names: NAMES, starts_at: DATES.ends_at, ends_at: DATES.starts_at }, 'ends_at'],
      ['name', { names: NAMES, starts_at: 'tomorrow', ends_at: null }, 'starts_at'],
      ['contact', { emergency_number: 'help', organiser_phone: null }, 'emergency_number'],
      ['contact', { emergency_number: null, organiser_phone: '12' }, 'organiser_phone'],
      ['languages', { language: 'ja', languages: ['en'] }, 'languages'],
      ['languages', { language: 'nl', languages: ['en'] }, 'language'],
      ['languages', { language: 'en', languages: ['en', 'nl'] }, 'languages'],
      ['translation', { language: 'en-GB', texts: { 'walk.back': 'Back' } }, 'built in'],
      ['translation', { language: 'he', texts: { 'walk.back': 'x' } }, 'right to left'],
      ['translation', { language: 'xq', texts: { 'walk.back': 'x' } }, 'no language has the tag'],
      ['translation', { language: 'Dutch', texts: { 'walk.back': 'x' } }, 'tag of a language'],
      ['translation', { language: 'nl', texts: { back: 'Terug', '<': 'x' } }, 'texts'],
      ['translation', { language: 'nl', texts: { 'walk.none': 'Niets' } }, 'none of the 1'],
      ['translation', { language: 'nl', texts: { 'walk.back': 'x'.repeat(1_001) } }, 'texts'],
    ])('refuses a wrong %s: %p', async (part, body, field) => {
      const { version } = await settings()
      const refused = await put(part, { ...body, version })
      expect(await sentenceOf(refused, 400, 'invalid-request')).toContain(field)
      expect((await settings()).version).toBe(version)
    })
  },
  ENVIRONMENT,
)

describe.skipIf(embeddedOnly)('a replica that was away', () => {
  test('follows what was changed meanwhile, also what its environment says otherwise', async () => {
    const stack = await openRealTestStack({ settings: ENVIRONMENT, apart: ['tracking', 'survey-profile'] })
    try {
      const away = stack.service('tracking')
      await away.stop('SIGKILL')
      const { version } = await dataOf(await readAs(stack, 'owner', 'admin/settings'), eventSettingsEndpoint)
      const body = { names: NAMES, starts_at: null, ends_at: null, version }
      expect((await callAs(stack, 'owner', 'PUT', 'admin/settings/name', body)).status).toBe(200)
      const dutch = { language: 'nl', texts: { 'walk.back': 'Terug' }, version }
      expect((await callAs(stack, 'owner', 'PUT', 'admin/settings/translation', dutch)).status).toBe(200)
      await away.restart()
      for (const url of stack.urlsOf('tracking'))
        await until(async () => {
          const read = (await (await fetch(`${url}/api/event/map`)).json()) as { data: EventMap }
          const { names, languages } = read.data.event
          return names.en === NAMES.en && languages.includes('nl')
        }, `${url} to follow`)
      // The pages of containers are built with it too.
      const environment = { ...ENVIRONMENT, DATABASE_URL: stack.databaseUrl }
      expect((await eventOf(readConfig(environment))).names).toEqual(NAMES)
    } finally {
      await stack.close()
    }
  })
})
