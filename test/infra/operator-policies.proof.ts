import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { deployedStage } from '../support/iam/deployed-stage.ts'
import { ACCOUNT, REGION } from '../support/iam/resolve-templates.ts'
import { simulate } from '../support/iam/simulate.ts'

/** The policies of docs/operations.md#operators-and-their-changes, simulated on production. */

const production = deployedStage(stageNamed('production'))
const page = readFileSync('docs/operations.md', 'utf8')
const [, section = ''] = page.split('## Operators and their changes')
const blocks = (section.split('\n## ')[0] ?? '').matchAll(/```json\n(.*?)```/gs)
const policies = [...blocks].map(([, text = '']) =>
  JSON.parse(
    text
      .replaceAll('REGION', REGION)
      .replaceAll('ACCOUNT', ACCOUNT)
      .replaceAll('STAGE', 'production'),
  ),
)
const [requester, approver] = policies
const nouns = production.functionNames.filter((name) => name.startsWith('manage-'))

const mayCall = async (policy: unknown, name: string, action: string, context: object) => {
  const stage = { ...production, policiesOf: () => [{ name: 'documented', policy }] }
  const { result } = await simulate(stage, {
    principal: `arn:aws:iam::${ACCOUNT}:role/operator`,
    action: `lambda:${action}`,
    resource: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:debit-collection-production-${name}`,
    context: { ...context },
  })
  if (result === 'Invalid') throw new Error(`${action} with ${JSON.stringify(context)}`)
  return result === 'Allowed'
}

const viaUrl = { 'lambda:InvokedViaFunctionUrl': 'true' }
const direct = [{}, { 'lambda:InvokedViaFunctionUrl': 'false' }]

/** A URL needs both actions. */
const mayUse = async (policy: unknown, name: string): Promise<boolean> => {
  const isAdmitted = mayCall(policy, name, 'InvokeFunctionUrl', {
    'lambda:FunctionUrlAuthType': 'AWS_IAM',
  })
  return (await isAdmitted) && mayCall(policy, name, 'InvokeFunction', viaUrl)
}

const used = async (policy: unknown): Promise<string[]> => {
  const allowed = await Promise.all(nouns.map((name) => mayUse(policy, name)))
  return nouns.filter((_, index) => allowed[index])
}

test('the page has one policy of requesters and one of approvers, and no other', async () => {
  expect(policies).toHaveLength(2)
  expect(await used(requester)).toEqual(nouns.filter((name) => name !== 'manage-approval'))
  expect(await used(approver)).toEqual(['manage-approval'])
})

describe.each([
  ['requesters', requester],
  ['approvers', approver],
])('the policy of %s', (_, policy) => {
  test.each(nouns)('the policy refuses direct, forgeable invocations of %s', async (name) => {
    for (const context of direct) {
      expect(await mayCall(policy, name, 'InvokeFunction', context)).toBe(false)
    }
  })
})
