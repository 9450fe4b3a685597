import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folders.ts'

/** The CDK app as a process, with the context that the CDK's command sets. */

const synthesize = (context: object) => {
  const output = newFolder()
  const { status, stderr } = spawnSync('node', ['infra/stacks/app.ts'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, CDK_OUTDIR: output, CDK_CONTEXT_JSON: JSON.stringify(context) },
  })
  const stacks = globSync(`${output}/*.template.json`).map((file) =>
    basename(file, '.template.json'),
  )
  return { status, stderr, stacks }
}

test.each([
  [{}, 'debit-collection-account'],
  [{ stage: 'production', repository: 'acme/debits' }, 'debit-collection-production-deployment'],
  [
    { stage: 'sandbox', repository: 'acme/debits', oidcProvider: 'existing' },
    'debit-collection-sandbox-deployment',
  ],
])('the context %j defines stack %s alone', (context, stack) => {
  expect(synthesize(context)).toMatchObject({ status: 0, stacks: [stack] })
})

test.each([
  [{ stage: 'prod' }, 'A stage is required: -c stage=sandbox|production\n'],
  [{ repository: 'acme/debits' }, 'A stage is required: -c stage=sandbox|production\n'],
  [{ stage: 'sandbox', paused: 'yes' }, '-c paused must be true or false\n'],
  [{ stage: 'production', passive: 'true' }, 'Stage production has no passive Region\n'],
  [{ stage: 'sandbox', canary: 'no' }, '-c canary must be true or false\n'],
  [
    { stag: 'production' },
    '-c stag is unknown; known: stage, paused, canary, passive, probe, repository, oidcProvider\n',
  ],
  [
    { stage: 'production', probe: 'eu-central-1' },
    'Stage production has no alarmsTo, so its probe could notify nobody\n',
  ],
  [{ stage: 'sandbox', probe: 'true' }, '-c probe must be a Region\n'],
  [{ probe: 'eu-central-1' }, 'A stage is required: -c stage=sandbox|production\n'],
  [{ stage: 'sandbox', repository: 'acme' }, '-c repository must be OWNER/NAME\n'],
])('the context %j is rejected with one line', (context, line) => {
  expect(synthesize(context)).toEqual({ status: 1, stderr: line, stacks: [] })
})
