import { Match } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { functionsOf } from '../../infra/definitions/functions.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const stage = completeStage
const { secretArn } = stage.bankClientCertificate ?? {}
const { all } = templatesOf(stage)
const functions = propertiesOf(all, 'AWS::Lambda::Function')

const callersOf = (peers: 'banks' | 'receivers'): string[] =>
  functionsOf(stage)
    .filter(({ permissions }) => permissions.calls?.includes(peers))
    .map(({ name }) => name)
    .sort()
const callers = [...callersOf('banks'), ...callersOf('receivers')].sort()

const namesOf = (nodes: TemplateNode[]): string[] =>
  nodes.map(({ FunctionName }) => FunctionName.replace('debit-collection-complete-', '')).sort()

test('a stage without the settings has neither network nor client certificate', () => {
  const { all, stacks } = templatesOf(stageNamed('production'))
  expect(Object.keys(stacks)).not.toContain('network')
  all.resourceCountIs('AWS::EC2::VPC', 0)
  const text = JSON.stringify(all.toJSON())
  expect(text).not.toMatch(/VpcConfig|NetworkInterface|BANK_CLIENT_CERTIFICATE_ARN/)
})

test('only functions that call banks or receivers run in the network, in the security groups of their peers', () => {
  const inNetwork = functions.filter(({ VpcConfig }) => VpcConfig !== undefined)
  expect(namesOf(inNetwork)).toEqual(callers)
  for (const peers of ['banks', 'receivers'] as const) {
    const group = `ExportsOutputFnGetAtt${peers === 'banks' ? 'Banks' : 'Receivers'}`
    const inGroup = inNetwork.filter(({ VpcConfig }) =>
      JSON.stringify(VpcConfig.SecurityGroupIds).includes(group),
    )
    expect(namesOf(inGroup)).toEqual(callersOf(peers))
  }
  for (const { VpcConfig } of inNetwork) {
    expect(VpcConfig.SubnetIds).toHaveLength(3)
    expect(JSON.stringify(VpcConfig.SubnetIds)).not.toContain('public')
    expect(VpcConfig.SecurityGroupIds).toHaveLength(1)
  }
})

test('the security groups admit no traffic in, and only the ports of banks and receivers out', () => {
  const port = (from: number, to = from) =>
    Match.objectLike({ CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: from, ToPort: to })
  for (const ports of [[port(0, 65_535)], [port(443), port(8_443)]]) {
    all.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: Match.absent(),
      SecurityGroupEgress: ports,
    })
  }
  all.resourceCountIs('AWS::EC2::SecurityGroup', 2)
  all.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0)
})

test('each zone has a NAT gateway with a retained address, and an output lists the addresses', () => {
  const addresses = all.findResources('AWS::EC2::EIP')
  for (const { DeletionPolicy } of Object.values<TemplateNode>(addresses)) {
    expect(DeletionPolicy).toBe('RetainExceptOnCreate')
  }
  const allocations = propertiesOf(all, 'AWS::EC2::NatGateway').map(
    ({ AllocationId }) => AllocationId['Fn::GetAtt'][0],
  )
  expect(allocations).toEqual(Object.keys(addresses))
  const refs = Object.keys(addresses).map((Ref) => ({ Ref }))
  expect(refs).toHaveLength(3)
  all.hasOutput('EgressAddresses', { Value: { 'Fn::Join': [',', refs] } })
})

test('DynamoDB and S3 have gateway endpoints, and all traffic is logged', () => {
  for (const service of ['dynamodb', 's3']) {
    all.hasResourceProperties('AWS::EC2::VPCEndpoint', {
      VpcEndpointType: 'Gateway',
      ServiceName: { 'Fn::Join': ['', ['com.amazonaws.', { Ref: 'AWS::Region' }, `.${service}`]] },
    })
  }
  all.hasResourceProperties('AWS::EC2::FlowLog', { TrafficType: 'ALL' })
})

test('the network of a pinned stage needs no look-up of zones in the account', () => {
  const place = { account: '111111111111', region: 'eu-west-1' }
  const pinned = templatesOf({ ...stage, ...place })
  expect(pinned.findings()).toEqual([])
  const subnets = propertiesOf(pinned.all, 'AWS::EC2::Subnet')
  const zones = subnets.map(({ AvailabilityZone }) => AvailabilityZone['Fn::Select'][0])
  expect(zones).toEqual([0, 1, 2, 0, 1, 2])
})

test('only functions that call banks know the client certificate', () => {
  const certificateReaders = functions.filter(
    ({ Environment }) => Environment.Variables.BANK_CLIENT_CERTIFICATE_ARN === secretArn,
  )
  expect(namesOf(certificateReaders)).toEqual(callersOf('banks'))
})
