import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { stageNames } from '../infra/definitions/stages.ts'

/** The rules for the workflows of GitHub Actions. */

type Step = { uses?: string; run?: string; with?: Record<string, unknown> }
type Permissions = Record<string, string>
type Job = {
  if?: string
  needs?: string
  uses?: string
  environment?: string
  permissions?: Permissions
  steps?: Step[]
  with?: Record<string, string>
}
type Workflow = {
  on: { push?: { tags?: string[] } }
  permissions?: Permissions
  concurrency?: object
  jobs: Record<string, Job>
}

const read = (file: string): string => readFileSync(file, 'utf8')
const files = globSync('.github/workflows/*.yml')
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`))
const workflows = files.map((file): Workflow => parse(read(file)))
const jobs = workflows.flatMap((one) => Object.values(one.jobs))

const CAN_SIGN_IN = { contents: 'read', 'id-token': 'write' }

test('every action is pinned by commit, with its version as a comment', () => {
  const used = files.flatMap((file) => read(file).match(/uses: .*/g) ?? [])
  const actions = used.filter((line) => !line.startsWith('uses: ./'))
  expect(actions.length).toBeGreaterThan(4)
  const pinned = /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
  expect(actions.filter((line) => !pinned.test(line))).toEqual([])
})

test('an action has one version in all workflows', () => {
  const used = new Set(jobs.flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses ?? [])))
  const names = [...used].map((action) => action.split('@')[0])
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('the workflows read the repository; only the jobs of deployments can get tokens', () => {
  for (const one of workflows) expect(one.permissions).toEqual({ contents: 'read' })
  const permitted = jobs.filter(({ permissions }) => permissions)
  expect(permitted.map(({ permissions }) => permissions)).toEqual(Array(3).fill(CAN_SIGN_IN))
  expect(permitted).toEqual([
    ...Object.values(workflow('deploy-stage').jobs),
    ...Object.values(workflow('deploy').jobs),
  ])
})

test('a checkout leaves no credentials for later steps', () => {
  const checkouts = jobs
    .flatMap(({ steps = [] }) => steps)
    .filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  expect(checkouts).toHaveLength(2)
  for (const step of checkouts) expect(step.with).toEqual({ 'persist-credentials': false })
})

test('no script contains an expression, whose value could be a command', () => {
  const scripts = jobs.flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []))
  expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
})

test('each stage is deployed after the one before, unless its role is not set', () => {
  const { on, concurrency, jobs: stages } = workflow('deploy')
  expect(on).toEqual({ push: { tags: ['v*'] }, workflow_dispatch: null })
  expect(concurrency).toEqual({ group: 'deploy', 'cancel-in-progress': false })
  expect(Object.keys(stages)).toEqual(stageNames)
  expect(stages.production?.needs).toBe('sandbox')
  for (const [stage, job] of Object.entries(stages)) {
    const role = `vars.${stage.toUpperCase()}_DEPLOY_ROLE`
    expect(job.if).toBe(`${role} != ''`)
    expect(job.uses).toBe('./.github/workflows/deploy-stage.yml')
    expect(job.with).toEqual({ stage, role: `\${{ ${role} }}` })
  }
})

test('a stage is deployed in its environment and then verified', () => {
  const { deploy } = workflow('deploy-stage').jobs
  expect(deploy?.environment).toBe(`\${{ inputs.stage }}`)
  expect(deploy?.steps?.flatMap(({ run }) => run ?? [])).toEqual([
    // Scripts of packages could use the identity token.
    'npm ci --ignore-scripts',
    'npx cdk deploy --all -c stage="$STAGE" --require-approval never',
    'npm run smoke -- --stage "$STAGE"',
  ])
})
