import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { namesOf } from '../../shared/domain/names.ts'
import { alarmedMetrics, shownMetrics } from '../../shared/metrics.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

/** Every metric of the service, from the code that measures it to the people who read it. */

const COMMENT = /\/\*.*?\*\/|\/\/.*?$/gms

const wordsOf = (files: string[]): Set<string> => {
  const text = files.map((file) => readFileSync(file, 'utf8').replaceAll(COMMENT, ''))
  return new Set(text.join('\n').match(/\w+/g))
}

const { all } = templatesOf(stageNamed('production'))

const shown = namesOf(shownMetrics)
const alarmed = namesOf(alarmedMetrics)

const wordsOfAll = (type: 'Alarm' | 'Dashboard') =>
  new Set(JSON.stringify(propertiesOf(all, `AWS::CloudWatch::${type}`)).match(/\w+/g))

test.each([
  [
    'measured by code',
    wordsOf(globSync('{functions,shared}/**/*.ts', { exclude: ['shared/metrics.ts'] })),
  ],
  ['expected by a test of that code', wordsOf(globSync('test/!(infra)/**/*.test.ts'))],
])('every metric is %s', (_, words) => {
  expect([...shown, ...alarmed].filter((name) => !words.has(name))).toEqual([])
})

test('a metric has an alarm if its list says so, and is on the dashboard otherwise', () => {
  const alarms = wordsOfAll('Alarm')
  expect([...shown, ...alarmed].filter((name) => alarms.has(name))).toEqual(alarmed)
  const dashboard = wordsOfAll('Dashboard')
  expect(shown.filter((name) => !dashboard.has(name))).toEqual([])
})
