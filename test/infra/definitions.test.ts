import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { permissionsOf } from '../../infra/definitions/function-permissions.ts'
import { jobNames, jobRow, queueRows, recurring } from '../../infra/definitions/jobs.ts'
import { messages } from '../../shared/queues/messages.ts'

/** Returns the queues that a job consumes; none for the relay. */
const queuesConsumedBy = (name: (typeof jobNames)[number]): string[] => {
  const { from } = jobRow(name)
  return 'queues' in from ? [...from.queues] : []
}

test('the queues have a message schema and one consumer each', () => {
  const consumed = jobNames.flatMap(queuesConsumedBy)
  expect(consumed.sort()).toEqual(Object.keys(messages).sort())
  expect(queueRows.map(({ name }) => name).sort()).toEqual(consumed)
})

test('a function never sends to a queue that it consumes', () => {
  const loops = jobNames.filter((name) => {
    const { sends = [] } = permissionsOf(name)
    return sends.some((queue) => queuesConsumedBy(name).includes(queue))
  })
  expect(loops).toEqual([])
})

test('the queues have visibility timeouts of at least six function timeouts', () => {
  for (const { name, visibilitySeconds } of queueRows) {
    const job = jobNames.find((consumer) => queuesConsumedBy(consumer).includes(name))
    const timeoutSeconds = job ? jobRow(job).timeoutSeconds : Infinity
    expect(visibilitySeconds, name).toBeGreaterThanOrEqual(6 * timeoutSeconds)
  }
})

test('the settlement starts three times a night, and the sweep every minute', () => {
  const expressions = Object.groupBy(recurring, ({ queue }) => queue)
  const timesOf = (queue: 'settlement-runs' | 'sweeps') =>
    expressions[queue]?.map(({ expression }) => expression)
  const nightly = ['cron(0 0 * * ? *)', 'cron(20 0 * * ? *)', 'cron(0 1 * * ? *)']
  expect(timesOf('settlement-runs')).toEqual(nightly)
  expect(timesOf('sweeps')).toEqual(['rate(1 minute)'])
  // A sweep ends within a minute, and a late message expires. Settlement waits up to four days.
  expect(jobRow('sweep').timeoutSeconds).toBeLessThan(60)
  const retentions = Object.fromEntries(queueRows.map((row) => [row.name, row.retentionSeconds]))
  const days = { 'settlement-runs': 345_600, settlements: 345_600, payments: 345_600 }
  expect(retentions).toMatchObject({ ...days, sweeps: 120 })
})

/** The recommended flags that the project sets otherwise, and why. */
const declinedFlags = {
  // A reference between the stacks of a stage must fail a deployment that removes its target.
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  // The reasons of `suppressNag` name ARNs with a reference to the partition.
  '@aws-cdk/core:enablePartitionLiterals': false,
  // A statement stays the one of its reason.
  '@aws-cdk/aws-iam:minimizePolicies': false,
  // It would add a function with rights on all groups; nothing uses the default one.
  '@aws-cdk/aws-ec2:restrictDefaultSecurityGroup': false,
}

test('the CDK has a decision on each of its feature flags, and a reason where it declines one', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const recommended = read('node_modules/aws-cdk-lib/recommended-feature-flags.json')
  expect(read('cdk.json').context).toMatchObject({ ...recommended, ...declinedFlags })
})
