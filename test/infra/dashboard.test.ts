import { expect, test } from 'vitest'
import { alarmRows } from '../../infra/definitions/alarms.ts'
import { deadLetterQueues, queuesOf } from '../../infra/definitions/jobs.ts'
import { burnRows } from '../../infra/definitions/objectives.ts'
import { rollbackAlarms } from '../../infra/definitions/rollback-alarms.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const stage = stageNamed('production')
const { all } = templatesOf(stage)

/** Returns the widgets of a dashboard; a reference of the template becomes its text. */
const widgetsOf = (template: typeof all): TemplateNode[] => {
  const [dashboard] = propertiesOf(template, 'AWS::CloudWatch::Dashboard')
  const parts: unknown[] = dashboard?.DashboardBody['Fn::Join'][1]
  const text = parts.map((part) => (typeof part === 'string' ? part : Object.values(part ?? {})))
  return JSON.parse(text.join('')).widgets
}
const widgets = widgetsOf(all)
const widgetTitled = (title: string): TemplateNode =>
  widgets.find(({ properties }) => properties.title === title)?.properties

test('the dashboard shows debits, latency, queues, webhooks and settlement', () => {
  all.resourceCountIs('AWS::CloudWatch::Dashboard', 1)
  const page = JSON.stringify(all.findResources('AWS::CloudWatch::Dashboard'))
  const shown = [
    ['DebitsCharged', 'DebitsCompleted', 'DebitsFailed', 'completed / (completed + failed)'],
    ['Latency', 'p50', 'p99', '5XXError', 'IteratorAge'],
    ['WebhookDelivered', 'WebhookAbandoned', 'delivered / (delivered + failed)'],
    ['SettledGrossPesewas', 'SettledFeePesewas', 'SettledNetPesewas', 'SettlementPaid'],
  ].flat()
  expect(shown.filter((name) => !page.includes(name))).toEqual([])
  expect(page.match(/ApproximateAgeOfOldestMessage/g)).toHaveLength(queuesOf(stage).length)
})

test('the dashboard begins with the pages and ends with the other alarms', () => {
  const statuses = widgets.filter(({ type }) => type === 'alarm')
  expect(statuses.map(({ properties }) => properties.title)).toEqual(['Pages', 'Other alarms'])
  expect([widgets.indexOf(statuses[0] ?? {}), widgets.indexOf(statuses[1] ?? {})]).toEqual([
    0,
    widgets.length - 1,
  ])
  const rows = [...alarmRows(stage), ...burnRows, ...rollbackAlarms]
  const pages = rows.filter(({ to }) => to === 'page')
  expect(widgetTitled('Pages').alarms).toHaveLength(pages.length)
  const others = rows.length - pages.length
  expect(widgetTitled('Other alarms').alarms).toHaveLength(others)
  // The limit of a widget.
  expect(others).toBeLessThanOrEqual(100)
})

test('the graphs show the thresholds of the alarms on their metrics', () => {
  const thresholds = Object.fromEntries(
    widgets.flatMap(({ properties }) => {
      const lines: TemplateNode[] = properties.annotations?.horizontal ?? []
      const values = lines.map(({ value, label }) => `${label} ${value}`)
      return values.length > 0 ? [[properties.title, values]] : []
    }),
  )
  const letters = deadLetterQueues(stage).length
  expect(thresholds).toEqual({
    'Failures of objectives in an hour (%)': [
      'budget of availability 0.1',
      'budget of charge-time 1',
      'budget of webhook-time 1',
      'budget of payout-day 0.5',
    ],
    '4xx replies to banks': [
      'bank-requests-limited 1',
      'bank-credentials-refused 5',
      'bank-requests-refused 20',
    ],
    'Requests blocked by the firewall': ['requests-blocked 100'],
    'Age of the oldest message per queue (s)': [
      '9 alarms 900',
      '4 alarms 1080',
      '3 alarms 7200',
      'stream-late 60000',
    ],
    // Each queue has an alarm on its first letter, and one on letters that wait for a week.
    'Dead letters per queue': [`${2 * letters} alarms 1`],
    Throttles: ['4 alarms 1', 'concurrency-high 800'],
    'Nightly settlement': ['4 alarms 1'],
    Refunds: ['refund-failed 1'],
    'Approval prompts': ['prompts-refused 10'],
    Sweep: ['sweep-faults 1', 'sweep-behind 600'],
  })
})

test('the figures per bank and per failure code come from the log of relay', () => {
  const log = Object.keys(all.findResources('AWS::Logs::LogGroup')).find((id) =>
    id.startsWith('relaylog'),
  )
  for (const [title, key] of [
    ['Debits by bank', 'bank'],
    ['Failed debits by code', 'code'],
  ] as const) {
    const { query } = widgetTitled(title)
    expect(query).toContain(`ExportsOutputRef${log}`)
    expect(query).toMatch(new RegExp(`stats .* by ${key}\\b`))
  }
})
