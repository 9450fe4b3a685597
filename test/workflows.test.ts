import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { stageNames } from '../infra/definitions/stages.ts'
import { newFolder } from './support/folders.ts'

/** The rules for the workflows of GitHub Actions. */

type Step = {
  name?: string
  if?: string
  uses?: string
  run?: string
  with?: Record<string, unknown>
}
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
  on: { push?: { tags?: string[] }; workflow_call?: null }
  permissions?: Permissions
  concurrency?: object
  jobs: Record<string, Job>
}

const read = (file: string): string => readFileSync(file, 'utf8')
const files = globSync('.github/workflows/*.yml')
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`))
const workflows = files.map((file): Workflow => parse(read(file)))
const jobs = workflows.flatMap((one) => Object.values(one.jobs))

const CAN_SIGN_IN = { contents: 'read', 'id-token': 'write', attestations: 'read' }
const CAN_PUBLISH = { contents: 'read', 'id-token': 'write' }
const CAN_RELEASE = { contents: 'write', 'id-token': 'write', attestations: 'write' }

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

test('the workflows read the repository; only the jobs of deployments and of the release can get tokens', () => {
  for (const one of workflows) expect(one.permissions).toEqual({ contents: 'read' })
  const permitted = jobs.filter(({ permissions }) => permissions)
  const expected = [...Array(4).fill(CAN_SIGN_IN), CAN_PUBLISH, CAN_RELEASE]
  expect(permitted.map(({ permissions }) => permissions)).toEqual(expect.arrayContaining(expected))
  expect(permitted).toHaveLength(expected.length)
  expect(permitted).toEqual(
    expect.arrayContaining([
      ...Object.values(workflow('deploy-stage').jobs),
      ...Object.values(workflow('deploy').jobs),
      workflow('release').jobs.release,
      workflow('release').jobs.publish,
      workflow('release').jobs.deploy,
    ]),
  )
})

test('a checkout leaves no credentials for later steps', () => {
  const checkouts = jobs
    .flatMap(({ steps = [] }) => steps)
    .filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  expect(checkouts).toHaveLength(3)
  for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false })
})

test('no script contains an expression, whose value could be a command', () => {
  const scripts = jobs.flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []))
  expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
})

test('each stage is deployed after the one before, unless its role is not set', () => {
  const { on, concurrency, jobs: stages } = workflow('deploy')
  expect(on).toEqual({ workflow_call: null, workflow_dispatch: null })
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

test('a stage is deployed in its environment from the bytes of the release, unless it is paused, and then verified', () => {
  const { deploy } = workflow('deploy-stage').jobs
  expect(deploy?.environment).toBe(`\${{ inputs.stage }}`)
  expect(deploy?.steps?.flatMap(({ run }) => run ?? [])).toEqual([
    // Scripts of packages could use the identity token.
    'npm ci --ignore-scripts',
    // Else a workflow of a branch, or an earlier release, could replace the file.
    expect.stringMatching(
      /^gh release download .*\ngh attestation verify release\/stages\.tar\.gz .*\n.*--signer-workflow "\$GITHUB_REPOSITORY\/\.github\/workflows\/release\.yml" --source-ref "\$GITHUB_REF"\n/,
    ),
    // commands/installed needs the Node that such a script installs.
    'node commands/smoke.ts --stage "$STAGE" --unpaused',
    'npx cdk deploy --app "stages/$STAGE" --all --require-approval never',
    'node commands/smoke.ts --stage "$STAGE"',
  ])
})

test('a release runs the checks, builds without a token, attests the files of SHA256SUMS and is deployed', () => {
  const { on, jobs: steps } = workflow('release')
  expect(on).toEqual({ push: { tags: ['v*'] } })
  expect(workflow('ci').on).toHaveProperty('workflow_call')
  expect(steps.check?.uses).toBe('./.github/workflows/ci.yml')
  const needs = [steps.build, steps.release, steps.deploy].map((job) => job?.needs)
  expect(needs).toEqual(['check', 'build', 'release'])
  expect(steps.deploy?.uses).toBe('./.github/workflows/deploy.yml')
  expect(steps.build?.steps?.map(({ run }) => run)).toContain('npm run -s release -- --check')
  const released = steps.release?.steps ?? []
  const indexOf = (text: string) =>
    released.findIndex(({ uses = '', run = '' }) => (uses + run).includes(text))
  const order = ['sha256sum --check SHA256SUMS', 'actions/attest-', 'gh release create']
  expect(order.map(indexOf)).toEqual([1, 2, 3])
  expect(released[2]?.with).toEqual({ 'subject-checksums': 'release/SHA256SUMS' })
  expect(released.filter(({ run }) => run?.includes('npm ci'))).toEqual([])
})

/** Returns the script of a step of the release that precedes the upload. */
const scriptBeforeUpload = (isOne: (step: Step) => boolean | undefined): string => {
  const steps = workflow('release').jobs.build?.steps ?? []
  const upload = steps.findIndex(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
  const step = steps.findIndex(isOne)
  expect(step).toBeLessThan(upload)
  return steps[step]?.run ?? 'exit 9'
}

test('a release without a section of its version in CHANGELOG.md stops before the upload', () => {
  const script = scriptBeforeUpload(({ run }) => run?.includes('awk'))
  const folder = newFolder()
  mkdirSync(join(folder, 'dist'))
  const changes = '## [Unreleased]\n\n- b\n\n## [0.1.0] - 2026-12-01\n\n- a\n\n## [0.0.9]\n'
  writeFileSync(join(folder, 'CHANGELOG.md'), changes)
  const run = (tag: string) =>
    spawnSync('bash', ['-e', '-c', script], {
      cwd: folder,
      env: { ...process.env, GITHUB_REF_NAME: tag },
    })
  expect(run('v0.1.0').status).toBe(0)
  expect(readFileSync(join(folder, 'dist/notes.md'), 'utf8').trim()).toBe('- a')
  expect(run('v0.2.0').status).toBe(1)
})

test('a tag whose version is not that of the service and of both clients stops before the upload', () => {
  const script = scriptBeforeUpload(({ name }) => name?.includes('tag'))
  const run = (...versions: string[]) => {
    const folder = newFolder()
    mkdirSync(join(folder, 'dist/release'), { recursive: true })
    const names = ['debit-collection-service-V.tgz', 'debit-collection-V.tgz']
    for (const [index, name] of [...names, 'debit_collection-V-py3-none-any.whl'].entries())
      writeFileSync(join(folder, 'dist/release', name.replace('V', versions[index] ?? '')), '')
    const env = { ...process.env, GITHUB_REF_NAME: 'v0.2.0' }
    return spawnSync('bash', ['-e', '-c', script], { cwd: folder, env }).status === 0
  }
  const [old, now] = ['0.1.0', '0.2.0'] as const
  const passed = [run(now, now, now), run(old, now, now), run(now, old, now), run(now, now, old)]
  expect(passed).toEqual([true, false, false, false])
})

test('a release publishes packages that npm misses, and nothing before the variable PUBLISH is set', () => {
  const [line, ...others] = workflow('release').jobs.publish?.steps ?? []
  expect(line).toMatchObject({
    if: "vars.PUBLISH == ''",
    run: expect.stringMatching(/^echo 'skipped npm and PyPI/),
  })
  expect(others.map((step) => step.if)).toEqual(others.map(() => "vars.PUBLISH != ''"))
  const script = others.find(({ run }) => run)?.run ?? ''
  const folder = newFolder()
  mkdirSync(join(folder, 'release'))
  writeFileSync(join(folder, 'release/a.whl'), 'wheel')
  const npm = `if [ $1 = publish ]; then echo "$@"; elif [[ $2 = debit-collection@* ]]; then echo 0.1.0; else exit 1; fi`
  const commands = `npm() { ${npm}; }; sha256sum() { :; }\n${script}`
  const { status, stdout } = spawnSync('bash', ['-e', '-c', commands], {
    ...{ cwd: folder, encoding: 'utf8', env: { ...process.env, GITHUB_REF_NAME: 'v0.1.0' } },
  })
  expect({ status, stdout: stdout.trim().split('\n') }).toEqual({
    status: 0,
    stdout: [
      'skipped debit-collection 0.1.0, which npm has',
      'publish ./debit-collection-service-0.1.0.tgz --provenance --access public',
    ],
  })
  expect(readFileSync(join(folder, 'wheels/a.whl'), 'utf8')).toBe('wheel')
})
