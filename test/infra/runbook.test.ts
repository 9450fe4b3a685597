import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { alarmRows } from '../../infra/definitions/alarms.ts'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { queuesOf } from '../../infra/definitions/jobs.ts'
import { burnRows } from '../../infra/definitions/objectives.ts'
import { lateAlarm } from '../../infra/definitions/outcome-alarms.ts'
import { probeRow } from '../../infra/definitions/platform-alarms.ts'
import { rollbackAlarms } from '../../infra/definitions/rollback-alarms.ts'
import { savedQueries } from '../../infra/definitions/saved-queries.ts'
import { type Domain, type Lake, stageNamed } from '../../infra/definitions/stages.ts'
import { deadLetters as noun } from '../../shared/operator/nouns/operators.ts'
import { deadLetters } from '../../shared/queues/messages.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

const { domain, lake } = completeStage
const passive = { region: 'eu-west-1' }
const stage = { ...stageNamed('production'), domain: domain as Domain, lake: lake as Lake, passive }
const { all } = templatesOf(stageNamed('production'))
const page = readFileSync('docs/operations.md', 'utf8')

/** The alarms of queues have one row for all of them. */
const families = new Map<string, string>(
  queuesOf(stage).flatMap(({ name }) => [
    [lateAlarm(name), 'QUEUE-late'],
    [deadLetters(name), 'QUEUE-dead-letters'],
    [`${deadLetters(name)}-old`, 'QUEUE-dead-letters-old'],
  ]),
)

const definitions = [...burnRows, ...alarmRows(stage), probeRow, ...rollbackAlarms]
const entryOf = (name: string): string => families.get(name) ?? name

const kinds = {
  'Pages, which need somebody at once': 'page',
  Tickets: 'ticket',
  'Stops of a rollout, which notify nobody': 'none',
}

/** The row of a page also has the action of its mail. */
const rowOf = ({ name, look, to, description }: (typeof definitions)[number]): string => {
  const place = ['dashboard', 'firewall log', 'backup vault', 'probe log'].includes(look)
  const cells = [`\`${entryOf(name)}\``, place ? look : `\`${look}\``]
  if (to === 'page') cells.push(description.slice(description.indexOf(': ') + 2))
  return `| ${cells.join(' | ')} |`
}

test.each(Object.entries(kinds))(
  'the table "%s" of the page has each alarm and the first look',
  (title, kind) => {
    const table = new RegExp(`^${title}:\\n\\n\\| Alarm \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm')
    const [, documented = ''] = table.exec(page) ?? []
    const withoutLinks = documented.replaceAll(/\[(`[^`]+`)\]\([^)]+\)/g, '$1')
    const rows = definitions.filter(({ to = 'ticket' }) => to === kind).map(rowOf)
    expect(rows.length).toBeGreaterThan(0)
    expect(withoutLinks.trimEnd().split('\n')).toEqual([...new Set(rows)])
  },
)

test('the mail of each alarm has its meaning and an action', () => {
  const texts = definitions.map(({ description }) => description)
  expect(texts.filter((text) => !/^\S.*: \S/.test(text))).toEqual([])
})

test('the mail of a dead-letter queue has the call that moves its letters; that of lost records empties the queue', () => {
  const actions = new Map(
    definitions.map(({ name, description }) => [name, description.split(/, then |: /).at(-1)]),
  )
  for (const { name } of queuesOf(stage)) {
    const call = `run operator dead-letters redrive --queue ${name}`
    expect(actions.get(deadLetters(name))).toBe(call)
    expect(actions.get(`${deadLetters(name)}-old`)).toBe(`${call} now`)
    expect(v.is(noun.verbs.redrive.options, { queue: name })).toBe(true)
  }
  const purge = 'run operator debit repair and purge relay-lost-records'
  expect(actions.get('relay-lost-records')).toBe(purge)
  expect(actions.get('relay-lost-records-old')).toBe(`${purge} now`)
})

test('each saved query is a resource, and the page shows the path of a debit', () => {
  const saved = propertiesOf(all, 'AWS::Logs::QueryDefinition')
  expect(saved.map(({ Name, QueryString }) => [Name, QueryString.split('\n| ')])).toEqual(
    Object.entries(savedQueries).map(([name, lines]) => [
      `debit-collection-production/${name}`,
      lines,
    ]),
  )
  expect(page).toContain(savedQueries.debit.join('\n| '))
  expect(page.replaceAll('\n', ' ')).toContain(
    Object.keys(savedQueries)
      .map((name) => `\`${name}\``)
      .join(', '),
  )
})
