import { expect, test } from 'vitest'
import { functionsOf } from '../../infra/definitions/functions.ts'
import { type Stage, stageNamed } from '../../infra/definitions/stages.ts'
import { type DeployedStage, deployedStage } from '../support/iam/deployed-stage.ts'
import { ACCOUNT, REGION } from '../support/iam/resolve-templates.ts'
import { deniedChecks, type IamCheck, simulate } from '../support/iam/simulate.ts'

/** Simulates IAM for a stage with a network and a client certificate. */

const secretArn = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:bank-client-AbCdEf`
const keyArn = `arn:aws:kms:${REGION}:${ACCOUNT}:key/6f0d4b7e-0000-4000-8000-000000000000`
const stage: Stage = {
  ...stageNamed('production'),
  network: { cidr: '10.20.0.0/24', zones: 2 },
  bankClientCertificate: { secretArn, keyArn },
}
/** The default policy of a key, which delegates access to IAM. */
const keyPolicy = {
  Version: '2012-10-17',
  Statement: {
    Effect: 'Allow',
    Action: 'kms:*',
    Principal: { AWS: `arn:aws:iam::${ACCOUNT}:root` },
    Resource: '*',
  },
}
const own = deployedStage(stage)
const deployed: DeployedStage = {
  ...own,
  resourcePolicyOf: (arn) => (arn === keyArn ? keyPolicy : own.resourcePolicyOf(arn)),
}
const roleOf = (name: string): string => deployed.functionNamed(name).Role

const callersOf = (peers: 'banks' | 'receivers'): string[] =>
  functionsOf(stage)
    .filter(({ permissions }) => permissions.calls?.includes(peers))
    .map(({ name }) => name)
const callers = [...callersOf('banks'), ...callersOf('receivers')]

const ofInterface = ['CreateNetworkInterface', 'DeleteNetworkInterface', 'AssignPrivateIpAddresses']

/** Returns Lambda's calls in the role of a function when a stack is deployed or deleted. */
const interfaceChecks = (name: string): IamCheck[] => {
  const principal = roleOf(name)
  const arn = (path: string) => `arn:aws:ec2:${REGION}:${ACCOUNT}:${path}`
  const create = { principal, action: 'ec2:CreateNetworkInterface' }
  return [
    { principal, action: 'ec2:DescribeSubnets', resource: '*' },
    { principal, action: 'ec2:DescribeNetworkInterfaces', resource: '*' },
    { ...create, resource: arn('subnet/subnet-1') },
    { ...create, resource: arn('security-group/sg-1') },
    ...[...ofInterface, 'UnassignPrivateIpAddresses'].map((action) => ({
      principal,
      action: `ec2:${action}`,
      resource: arn('network-interface/eni-1'),
    })),
  ]
}

test('Lambda may create and delete the network interfaces of every caller', async () => {
  expect(await deniedChecks(deployed, callers.flatMap(interfaceChecks))).toEqual([])
})

test('the code of a caller may not create or delete network interfaces', async () => {
  for (const name of callers) {
    const { FunctionName } = deployed.functionNamed(name)
    const source = `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${FunctionName}`
    for (const check of interfaceChecks(name)) {
      const call = { ...check, context: { 'lambda:SourceFunctionArn': source } }
      expect((await simulate(deployed, call)).result).toBe('ExplicitlyDenied')
    }
  }
})

test('the functions that call banks may read the client certificate, other functions may not', async () => {
  const secretCheck = (name: string): IamCheck => ({
    principal: roleOf(name),
    action: 'secretsmanager:GetSecretValue',
    resource: secretArn,
  })
  const decryptCheck = (name: string, service: string): IamCheck => ({
    principal: roleOf(name),
    action: 'kms:Decrypt',
    resource: keyArn,
    context: { 'kms:ViaService': `${service}.${REGION}.amazonaws.com` },
  })
  const results = async (check: IamCheck) => (await simulate(deployed, check)).result
  for (const { name } of functionsOf(stage)) {
    const expected = callersOf('banks').includes(name) ? 'Allowed' : 'ImplicitlyDenied'
    expect(await results(secretCheck(name)), name).toBe(expected)
    expect(await results(decryptCheck(name, 'secretsmanager')), name).toBe(expected)
    expect(await results(decryptCheck(name, 'dynamodb')), name).toBe('ImplicitlyDenied')
  }
})
