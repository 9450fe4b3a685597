import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { metricNames } from '../../shared/metrics.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

/** Every metric of the service, from the code that measures it to the people who read it. */

const COMMENT = /\/\*.*?\*\/|\/\/.*?$/gms

const wordsOf = (files: string[]): Set<string> => {
  const text = files.map((file) => readFileSync(file, 'utf8').replaceAll(COMMENT, ''))
  return new Set(text.join('\n').match(/\w+/g))
}

const { all } = templatesOf(stageNamed('production'))

const resources = ['Alarm', 'Dashboard'].map((type) =>
  propertiesOf(all, `AWS::CloudWatch::${type}`),
)

test.each([
  [
    'measured by code',
    wordsOf(globSync('{functions,shared}/**/*.ts', { exclude: ['shared/metrics.ts'] })),
  ],
  ['expected by a test of that code', wordsOf(globSync('test/!(infra)/**/*.test.ts'))],
  ['used by an alarm or the dashboard', new Set(JSON.stringify(resources).match(/\w+/g))],
])('every metric is %s', (_, words) => {
  expect(metricNames.filter((name) => !words.has(name))).toEqual([])
})
