import { Match } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { functionRows, functionsOf } from '../../infra/definitions/functions.ts'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { concurrencyOf, type JobName, jobRow, jobsOf } from '../../infra/definitions/jobs.ts'
import {
  type Domain,
  stageNames as definedNames,
  InvalidStage,
  type Stage,
  stageNamed,
} from '../../infra/definitions/stages.ts'
import { defineStage } from '../../infra/stacks/stage-stacks.ts'
import manifest from '../../package.json' with { type: 'json' }
import { readCounts } from '../../proofs/ceilings/counts.ts'
import { ceilingsTable } from '../../proofs/ceilings/needs.ts'
import { operationNames } from '../../shared/api/operations.ts'
import {
  expectGatewayResponses,
  propertiesOf,
  type TemplateNode,
  templatesOf,
  unvalidatedApp,
} from '../support/templates.ts'

const domain: Domain = {
  name: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111111111111:certificate/c',
  zone: { id: 'Z1', name: 'example.com' },
}
/** A stage with the settings that the defined stages leave out. */
const customStage: Stage = {
  ...stageNamed('sandbox'),
  name: 'custom',
  limits: 'production',
  account: '111111111111',
  region: 'eu-west-1',
  hasFirewall: false,
  domain,
  alarmsTo: { pages: 'ops@example.com', tickets: 'ops@example.com' },
  privatePeers: ['127.0.0.1', 'bank.test'],
  errorGuide: 'https://docs.example.com/errors',
}
const templates = {
  sandbox: templatesOf(stageNamed('sandbox')),
  production: templatesOf(stageNamed('production')),
  custom: templatesOf(customStage),
  closed: templatesOf({ ...customStage, domain: { ...domain, isOnly: true } }),
}
type StageName = keyof typeof templates
const stageNames = Object.keys(templates) as StageName[]
const definedStages = definedNames.map((name) => stageNamed(name))
const namesIn = (stage: StageName) => functionsOf(stageNamed(stage)).map(({ name }) => name)

const lambda = (stage: StageName, name: string): TemplateNode => {
  const functions = propertiesOf(templates[stage].all, 'AWS::Lambda::Function')
  const resource = functions.find(({ FunctionName }) => FunctionName?.endsWith(`-${name}`))
  if (!resource) throw new Error(`No function ${name}`)
  return resource
}
const variablesOf = (stage: StageName, name: string): TemplateNode =>
  lambda(stage, name).Environment.Variables

test.each(stageNames)('the stage %s has no finding, and under 300 resources a stack', (name) => {
  const { templates: stacks, findings } = templates[name]
  expect(findings()).toEqual([])
  // The limit of a stack is 500.
  for (const template of stacks) {
    expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(300)
  }
})

test.each([
  // stage, rate, burst, days of logs, removal policy, deletion protection
  ['sandbox', 100, 200, 30, 'Delete', false],
  ['production', 2_000, 4_000, 365, 'RetainExceptOnCreate', true],
] as const)(
  'the stage %s admits %i requests a second and bursts of %i, keeps logs %i days, data: %s',
  (name, perSecond, burst, days, policy, isProtected) => {
    const { all } = templates[name]
    const settings = { ThrottlingRateLimit: perSecond, ThrottlingBurstLimit: burst }
    const [api] = propertiesOf(all, 'AWS::ApiGateway::Stage')
    expect(api?.MethodSettings).toMatchObject([
      { HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...settings },
      // The method settings of charge repeat the general ones.
      { HttpMethod: 'POST', MetricsEnabled: true, ...settings },
    ])
    const logGroup = { DeletionPolicy: policy, Properties: { RetentionInDays: days } }
    all.allResources('AWS::Logs::LogGroup', logGroup)
    for (const type of ['AWS::KMS::Key', 'AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket']) {
      all.allResources(type, { DeletionPolicy: policy })
    }
    const protection = Match.objectLike({ DeletionProtectionEnabled: isProtected })
    all.hasResourceProperties('AWS::DynamoDB::GlobalTable', { Replicas: [protection] })
  },
)

test.each([
  ['sandbox', 'true', undefined],
  ['production', undefined, 'true'],
] as const)(
  'the stage %s has the sandbox bank: %s, and approvals: %s',
  (stage, sandboxBank, approvals) => {
    expect(variablesOf(stage, 'submit-to-bank').SANDBOX_BANK).toBe(sandboxBank)
    expect(variablesOf(stage, 'manage-debit').APPROVALS).toBe(approvals)
    const names = namesIn(stage)
    const bank = functionRows.map(({ name }) => name).filter((name) => !names.includes(name))
    expect(bank).toEqual(sandboxBank ? [] : ['report-sandbox-outcome'])
    const hasBank = sandboxBank !== undefined
    expect('QUEUE_URL_SANDBOX_OUTCOMES' in variablesOf(stage, 'submit-to-bank')).toBe(hasBank)
    const template = JSON.stringify(templates[stage].all.toJSON())
    expect(template.includes('sandbox-outcomes')).toBe(hasBank)
  },
)

test('only a stage with private peers lets functions reach private addresses', () => {
  const peers = stageNames.map((stage) => variablesOf(stage, 'deliver-webhook').LOCAL_PEERS)
  const own = '127.0.0.1,bank.test'
  expect(peers).toEqual([undefined, undefined, own, own])
})

test('only LocalStack, which keeps no data, lets direct invocations name their operator', () => {
  const claims = stageNames.map((stage) => variablesOf(stage, 'manage-debit').CLAIMED_OPERATORS)
  expect(claims).toEqual(stageNames.map(() => undefined))
  // @ts-expect-error a stage that keeps its data cannot accept claimed operators
  const kept: Stage = { ...stageNamed('production'), claimedOperators: true }
  expect(kept.keepsData).toBe(true)
})

test('a stage that keeps its data has production limits under any name, and approvals', () => {
  // @ts-expect-error a stage that keeps its data cannot have the limits of a sandbox
  const lax: Stage = { ...stageNamed('production'), name: 'pilot', limits: 'sandbox' }
  expect(lax.keepsData).toBe(true)
  expect(variablesOf('custom', 'charge')).toMatchObject({ STAGE: 'custom', LIMITS: 'production' })
  const kept = definedStages.filter(({ keepsData }) => keepsData)
  expect(kept.filter(({ approvals }) => !approvals)).toEqual([])
})

// A bank answers a repeated uuid with the first outcome, and uuids follow from references.
test('no two stages have one prefix of references', () => {
  const prefixes = definedStages.map(({ referencePrefix }) => referencePrefix)
  expect(prefixes).toEqual([...new Set(prefixes)])
})

test('each function of an operator has a URL that verifies the caller', () => {
  for (const stage of ['sandbox', 'production'] as const) {
    const urls = propertiesOf(templates[stage].all, 'AWS::Lambda::Url')
    const nouns = namesIn(stage).filter((name) => name.startsWith('manage-'))
    expect(urls.map(({ AuthType }) => AuthType)).toEqual(nouns.map(() => 'AWS_IAM'))
  }
})

test('the approvals invoke functions of the same stage', () => {
  const { FUNCTION_PREFIX } = variablesOf('production', 'manage-approval')
  expect(FUNCTION_PREFIX).toBe('debit-collection-production-')
  expect(variablesOf('production', 'manage-debit')).not.toHaveProperty('FUNCTION_PREFIX')
})

const reserved = (stage: StageName): Record<string, number> =>
  Object.fromEntries(
    namesIn(stage).flatMap((name) => {
      const { ReservedConcurrentExecutions: workers } = lambda(stage, name)
      return workers === undefined ? [] : [[name, workers]]
    }),
  )
const consumers = (stage: StageName): number[] =>
  propertiesOf(templates[stage].all, 'AWS::Lambda::EventSourceMapping').flatMap(
    ({ ScalingConfig }) => ScalingConfig?.MaximumConcurrency ?? [],
  )

test('the production stage reserves concurrency for exactly the functions behind the gateway', () => {
  const workers = reserved('production')
  expect(Object.keys(workers).sort()).toEqual([...operationNames, 'answer-unmatched'].sort())
  expect(workers).toMatchObject({ charge: 100, 'get-debit-request': 50, 'list-banks': 8 })
  const production = stageNamed('production')
  const settings = jobsOf(production).flatMap((name) => {
    const { from } = jobRow(name)
    return 'queues' in from ? from.queues.map(() => concurrencyOf(name, production)) : []
  })
  expect(consumers('production').sort()).toEqual(settings.sort())
  const used = [...Object.values(workers), ...settings].reduce((sum, count) => sum + count, 0)
  // The relay uses one per shard. An account has 1,000 by default.
  expect(used + 40).toBeLessThan(1_000)
})

test('the ceilings name the workers of a job as the event sources of production and its row have them', () => {
  const rows = ceilingsTable(readCounts()).matchAll(/^\| workers of `([\w-]+)` \| ([\d,]+) \|/gm)
  const documented = [...rows].map(([, name, has = '']) => [name, Number(has.replace(',', ''))])
  expect(documented.length).toBeGreaterThan(2)
  const sources = propertiesOf(templates.production.all, 'AWS::Lambda::EventSourceMapping')
  const deployed = documented.map(([name]) => {
    const own = sources.filter(({ FunctionName }) =>
      JSON.stringify(FunctionName).includes(`"${String(name).replaceAll('-', '')}live`),
    )
    return [name, own.reduce((sum, { ScalingConfig }) => sum + ScalingConfig.MaximumConcurrency, 0)]
  })
  const defined = documented.map(([name]) => {
    const { from } = jobRow(name as JobName)
    return [name, 'queues' in from ? from.queues.length * from.maxConcurrency : 0]
  })
  expect({ deployed, defined }).toEqual({ deployed: documented, defined: documented })
})

test('a stage can set the concurrency of a job, and its upper limit applies', () => {
  const set = { workers: { 'submit-to-bank': 30, 'append-feed': 3 }, workersMax: 20 }
  const names = ['submit-to-bank', 'append-feed', 'sweep'] as const
  expect(names.map((name) => concurrencyOf(name, set))).toEqual([20, 3, 2])
  const { workersMax, ...unlimited } = set
  expect(names.map((name) => concurrencyOf(name, unlimited))).toEqual([30, 3, 2])
})

test('a sandbox reserves no concurrency and has at most five workers per queue', () => {
  expect(reserved('sandbox')).toEqual({})
  expect(Math.max(...consumers('sandbox'))).toBe(5)
  expect(Math.min(...consumers('sandbox'))).toBeGreaterThanOrEqual(2)
})

test('the outputs of a stage have the version of the service', () => {
  const { Version } = templates.production.all.findOutputs('Version')
  expect(Version?.Value).toBe(manifest.version)
})

test('a domain has TLS 1.2 and DNS, and the host of the gateway works until the domain is the only one', () => {
  const { production, custom, closed } = templates
  for (const name of ['test-webhook', 'deliver-webhook', 'manage-webhook']) {
    const id = {
      [name === 'test-webhook' ? 'Ref' : 'Fn::ImportValue']: expect.stringMatching(/ApiF70053CD/),
    }
    const own = [id, '.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]
    const both = [id, '.execute-api.eu-west-1.', { Ref: 'AWS::URLSuffix' }, ',api.example.com']
    expect(variablesOf('production', name).OWN_HOSTS).toEqual({ 'Fn::Join': ['', own] })
    expect(variablesOf('custom', name).OWN_HOSTS).toEqual({ 'Fn::Join': ['', both] })
    expect(variablesOf('closed', name).OWN_HOSTS).toBe('api.example.com')
  }
  const isClosed = ({ all }: typeof custom) =>
    propertiesOf(all, 'AWS::ApiGateway::RestApi')[0]?.DisableExecuteApiEndpoint
  expect([production, custom, closed].map(isClosed)).toEqual([false, false, true])
  production.all.resourceCountIs('AWS::ApiGateway::DomainName', 0)
  custom.all.hasResourceProperties('AWS::ApiGateway::DomainName', {
    DomainName: 'api.example.com',
    RegionalCertificateArn: domain.certificateArn,
    SecurityPolicy: 'TLS_1_2',
    EndpointConfiguration: { Types: ['REGIONAL'] },
  })
  const target = { 'Fn::GetAtt': [expect.stringMatching(/^Domain/), 'RegionalDomainName'] }
  expect(custom.all.findOutputs('DomainTarget')).toMatchObject({ DomainTarget: { Value: target } })
  const addresses = [custom, closed].map(({ all }) =>
    JSON.stringify(all.findOutputs('ApiAddress').ApiAddress?.Value),
  )
  expect(addresses).toEqual([
    expect.stringMatching(/execute-api.*\/custom"/),
    '"https://api.example.com"',
  ])
  for (const Type of ['A', 'AAAA']) {
    const record = { Type, Name: 'api.example.com.', HostedZoneId: 'Z1' }
    custom.all.hasResourceProperties('AWS::Route53::RecordSet', record)
  }
})

// CloudFormation refuses to change an export that a stack imports, and uuids contain a hash of the prefix.
test('the functions import the prefix of references, so that a deployed stage keeps it', () => {
  for (const [name, prefix] of [
    ['production', 'DCP'],
    ['sandbox', 'DCS'],
  ] as const) {
    const { all, data } = templates[name]
    const exported = `debit-collection-${name}-reference-prefix`
    data.hasOutput('*', { Value: prefix, Export: { Name: exported } })
    const prefixes = propertiesOf(all, 'AWS::Lambda::Function').flatMap(
      ({ Environment }) => Environment?.Variables?.REFERENCE_PREFIX ?? [],
    )
    expect(prefixes.length).toBeGreaterThan(10)
    for (const one of prefixes) expect(one).toEqual({ 'Fn::ImportValue': exported })
  }
})

// CloudFormation refuses to delete an export that a stack still imports, and deploys the API first.
test('a domain that becomes the only host removes no export', () => {
  const exportsOf = ({ all }: typeof templates.custom) =>
    Object.values(all.findOutputs('*')).flatMap(({ Export }) => (Export ? [Export.Name] : []))
  const apiId = expect.stringMatching(/-api:ExportsOutputRefApi/)
  expect(exportsOf(templates.production)).toContainEqual(apiId)
  expect(exportsOf(templates.closed)).toContainEqual(apiId)
})

// A rollback deploys the jobs before the operators, which may still import a queue of the newer version.
test.each(['production', 'sandbox'] as const)('the stage %s exports every queue', (name) => {
  const { all } = templates[name]
  const exported = Object.values(all.findOutputs('*')).flatMap(({ Export, Value }) =>
    Export ? [JSON.stringify(Value)] : [],
  )
  const work = Object.entries(all.findResources('AWS::SQS::Queue')).filter(
    ([, { Properties }]) => Properties.RedrivePolicy,
  )
  expect(work.length).toBeGreaterThan(10)
  for (const [id] of work) {
    const values = [{ 'Fn::GetAtt': [id, 'Arn'] }, { Ref: id }].map((value) =>
      JSON.stringify(value),
    )
    expect(exported).toEqual(expect.arrayContaining(values))
  }
})

const paused = templatesOf(stageNamed('production', { paused: 'true' }))

test.each([
  ['AWS::Lambda::EventSourceMapping', 'Enabled', true, false],
  ['AWS::Scheduler::Schedule', 'State', 'ENABLED', 'DISABLED'],
])('a paused stage disables every %s', (type, member, enabled, disabled) => {
  const states = (templates: typeof paused) =>
    propertiesOf(templates.all, type).map((properties) => properties[member])
  expect(new Set(states(templates.production))).toEqual(new Set([enabled]))
  expect(states(paused)).toEqual(states(templates.production).map(() => disabled))
})

// CloudFormation keeps a policy that a template no longer has (aws-cdk#21840).
test('a paused stage denies every request at the gateway and a resumed one allows it, in new deployments', () => {
  const calls = { Action: 'execute-api:Invoke', Resource: 'execute-api:/*' }
  const [denied, allowed] = [paused, templates.production].map(({ all }) => {
    const [api] = propertiesOf(all, 'AWS::ApiGateway::RestApi')
    return api?.Policy?.Statement
  })
  expect(denied).toEqual([{ Effect: 'Deny', Principal: { AWS: '*' }, ...calls }])
  expect(allowed).toEqual([{ Effect: 'Allow', Principal: { AWS: '*' }, ...calls }])
  const deployments = [paused, templates.production].map(({ all }) =>
    Object.keys(all.findResources('AWS::ApiGateway::Deployment')),
  )
  expect(new Set(deployments.flat()).size).toBe(2)
})

test('the replies of the gateway and of functions lead to their code if the stage has an error guide', () => {
  const bodies = propertiesOf(templates.custom.all, 'AWS::ApiGateway::GatewayResponse').map(
    ({ ResponseTemplates }) => JSON.parse(ResponseTemplates['application/json']),
  )
  expect(bodies.map(({ error }) => error.doc_url)).toEqual(
    bodies.map(({ error }) => `${customStage.errorGuide}#c${error.code}`),
  )
  for (const name of [...operationNames, 'answer-unmatched']) {
    expect(variablesOf('custom', name).ERROR_GUIDE).toBe(customStage.errorGuide)
    expect(variablesOf('production', name)).not.toHaveProperty('ERROR_GUIDE')
  }
})

test('a paused stage answers denied requests with 503/1503, and keeps all other responses', () => {
  const ACCESS_DENIED = { status: 503, code: 1503 }
  expectGatewayResponses(paused.all, { ...gatewayResponses, ACCESS_DENIED })
})

test('a paused stage keeps functions, queues and data, without a finding of AWS Solutions', () => {
  for (const type of ['AWS::Lambda::Function', 'AWS::SQS::Queue', 'AWS::IAM::Policy']) {
    const [ids, expected] = [paused, templates.production].map(({ all }) => all.findResources(type))
    expect(Object.keys(ids ?? {}), type).toEqual(Object.keys(expected ?? {}))
  }
  expect(paused.data.toJSON()).toEqual(templates.production.data.toJSON())
  expect(paused.findings()).toEqual([])
})

test('only a stage that keeps its data protects the data stack from deletion and its buckets from emptying', () => {
  const stacksOf = (name: string) => defineStage(unvalidatedApp(), stageNamed(name))
  expect(stacksOf('production').data.terminationProtection).toBe(true)
  expect(stacksOf('sandbox').data.terminationProtection).toBe(false)
  const autoDeletionsOf = (stage: StageName) =>
    Object.keys(templates[stage].data.findResources('Custom::S3AutoDeleteObjects')).length
  expect([autoDeletionsOf('production'), autoDeletionsOf('sandbox')]).toEqual([0, 3])
})

test('all stacks have the place and the tags of their stage', () => {
  const stage = { ...stageNamed('sandbox'), account: '111111111111', region: 'af-south-1' }
  for (const { account, region, tags } of Object.values(defineStage(unvalidatedApp(), stage))) {
    expect([account, region]).toEqual(['111111111111', 'af-south-1'])
    expect(tags.tagValues()).toEqual({
      application: 'debit-collection',
      stage: 'sandbox',
      'cost-center': 'collections-test',
      owner: 'collections',
    })
  }
})

test('only the value true pauses a stage', () => {
  const states = ['true', 'false', undefined].map(
    (paused) => stageNamed('sandbox', { paused }).paused,
  )
  expect(states).toEqual([true, undefined, undefined])
  expect(() => stageNamed('sandbox', { paused: 'yes' })).toThrow(InvalidStage)
})
