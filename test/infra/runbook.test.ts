import { readFileSync } from 'node:fs'
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

/** The queues of a family can differ in their notification. */
const recipients = (entry: string): string => {
  const own = definitions.filter(({ name }) => entryOf(name) === entry)
  return [...new Set(own.map(({ to = 'ticket' }) => (to === 'none' ? 'rollout' : to)))].join(' or ')
}

const rows = definitions.map((row) => {
  const place = ['dashboard', 'firewall log', 'backup vault', 'probe log'].includes(row.look)
  const look = place ? row.look : `\`${row.look}\``
  const entry = entryOf(row.name)
  return `| \`${entry}\` | ${recipients(entry)} | ${look} |`
})
const table = [...new Map(rows.map((row) => [row.split('|')[1], row])).values()]

test('the table of docs/operations.md has each alarm, its notification and the first query', () => {
  const [, documented = ''] = /^\| Alarm \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
  const withoutLinks = documented.replaceAll(/\[(`[^`]+`)\]\([^)]+\)/g, '$1')
  expect(withoutLinks.trimEnd().split('\n')).toEqual(table)
})

test('the mail of each alarm has its meaning and an action', () => {
  const texts = definitions.map(({ description }) => description)
  expect(texts.filter((text) => !/^\S.*: \S/.test(text))).toEqual([])
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
