import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alarmRows } from '../../infra/definitions/alarms.ts'
import { queuesOf } from '../../infra/definitions/jobs.ts'
import { lateAlarm } from '../../infra/definitions/outcome-alarms.ts'
import { rollbackAlarms } from '../../infra/definitions/rollback-alarms.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { deadLetters } from '../../shared/queues/messages.ts'

const stage = { ...stageNamed('production'), backup: { keepDays: 35, lockDays: 30 } }

const chapter = /^## When an alarm rings$.*?(?=^## )/ms.exec(
  readFileSync('docs/operations.md', 'utf8'),
)?.[0]

/** The alarms of the first columns of the tables `Alarm`. */
const entries = [...(chapter ?? '').matchAll(/^\| Alarm \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)].flatMap(
  ([, rows = '']) =>
    [...rows.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    ),
)

const queues = new Set<string>(queuesOf(stage).map(({ name }) => deadLetters(name)))

const late = new Set(queuesOf(stage).map(({ name }) => lateAlarm(name)))

/** All queues have one entry. */
const entryOf = (alarm: string): string => {
  if (late.has(alarm)) return 'QUEUE-late'
  const [name, old] = alarm.endsWith('-old') ? [alarm.slice(0, -4), '-old'] : [alarm, '']
  return `${queues.has(name) ? 'QUEUE-dead-letters' : name}${old}`
}

const names = [...alarmRows(stage), ...rollbackAlarms].map(({ name }) => entryOf(name))

test('each alarm has an entry in the runbook, docs/operations.md#when-an-alarm-rings', () => {
  expect(names.filter((name) => !entries.includes(name))).toEqual([])
})

test('each entry of the runbook is of an alarm', () => {
  expect(entries.filter((entry) => !names.includes(entry))).toEqual([])
})
