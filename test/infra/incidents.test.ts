import { readFileSync } from 'node:fs'
import { beforeEach, expect, test, vi } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { type Ring, ringsOf } from '../support/cloudwatch/alarms.ts'
import { banks, HOUR, incidents, TEN } from '../support/cloudwatch/incidents.ts'
import { even, STAGE, samplesOf } from '../support/cloudwatch/traffic.ts'
import { templatesOf } from '../support/templates.ts'

/** Plays incidents on the alarms that are deployed. */

beforeEach(() => {
  vi.stubEnv('METRICS_DISABLED', 'false')
})

const { all } = templatesOf(stageNamed('production'))

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
