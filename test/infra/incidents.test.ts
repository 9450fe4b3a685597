import { readFileSync } from 'node:fs'
import { beforeEach, expect, test, vi } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { type Ring, ringsOf } from '../support/cloudwatch/alarms.ts'
import { banks, incidents } from '../support/cloudwatch/incidents.ts'
import { even, type Random, STAGE, samplesOf } from '../support/cloudwatch/traffic.ts'
import { templatesOf } from '../support/templates.ts'

/** Plays incidents and quiet nights on the alarms that are deployed. */

beforeEach(() => {
  vi.stubEnv('METRICS_DISABLED', 'false')
})

const { all } = templatesOf(stageNamed('production'))

const HOUR = 60
const DAY = 24 * HOUR
/** 10:00 UTC of the second day: the night's jobs have run. */
const TEN = DAY + 10 * HOUR

/** Returns the first ring of each alarm after a fault begins, as `name minutes`. */
const shownRings = (rings: readonly Ring[], begins: number): string => {
  const byName = Map.groupBy(rings, ({ name }) => name)
  const shown = [...byName].map(([name, all]) => {
    const series = new Set(all.map(({ label }) => label)).size
    const again = all.length > series ? ` (${all.length} times)` : ''
    return `\`${name}\` ${Number(all[0]?.minute) - begins}${again}`
  })
  return shown.join(', ') || '–'
}

const ringsOfIncident = (incident: string) => {
  const { minutes = HOUR, rate = 60, begins = TEN, ...fault } = incidents[incident] ?? {}
  const span = { from: begins - HOUR, before: begins + minutes + HOUR }
  const traffic = { rate, banks, fault, begins, ends: begins + minutes, random: even() }
  const samples = samplesOf(traffic, { from: begins - 2 * HOUR, before: span.before })
  return { begins, rings: ringsOf(all, samples, span, `${STAGE}-`) }
}

test('the table of docs/operations.md shows which alarm rings after how many minutes of each incident', () => {
  const rows = Object.keys(incidents).map((incident) => {
    const { rings, begins } = ringsOfIncident(incident)
    const cells = ['Pages', 'Tickets'].map((topic) =>
      shownRings(
        rings.filter(({ topics }) => topics[0]?.startsWith(topic)),
        begins,
      ),
    )
    return `| ${[incident, ...cells].join(' | ')} |`
  })
  const table = ['| Incident | Pages, and their minute | Tickets |', '|---|---|---|', ...rows]
  const [, documented] =
    /^### Incidents$.*?\n(\|.*?)\n\n/ms.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  expect(documented?.split('\n')).toEqual(table)
})

test('the alarm of a bank that fails names it, and no other bank', () => {
  const { rings } = ringsOfIncident('a bank rejects every debit')
  expect(rings.map(({ name, label }) => name + label)).toEqual(['bank-failing (ECO)'])
})

/** Draws from a seeded sequence (mulberry32). */
const drawn = (seed: number): Random => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  // A rate below one is one draw; otherwise one for each of n.
  return (_, n, probability) => {
    if (n < 1) return next() < n * probability ? 1 : 0
    return Array.from({ length: n }, next).filter((value) => value < probability).length
  }
}

test.each([
  ['3 charges an hour', 3 / HOUR, 1],
  ['3 charges an hour, other outcomes', 3 / HOUR, 2],
  ['20 charges an hour', 20 / HOUR, 3],
  ['5 charges a minute', 5, 4],
])('no alarm rings in a week of %s, a fiftieth of them for one bank', (_, rate, seed) => {
  const span = { from: TEN, before: TEN + 7 * DAY }
  const traffic = { rate, banks, fault: {}, begins: 0, ends: 0, random: drawn(seed) }
  const samples = samplesOf(traffic, { from: TEN - HOUR, before: span.before })
  expect(samples.named('DebitCollection', 'FailureExcess')).toHaveLength(Object.keys(banks).length)
  expect(ringsOf(all, samples, span, `${STAGE}-`)).toEqual([])
})
