import type { Stack } from 'aws-cdk-lib'
import {
  DomainName,
  EndpointType,
  type IRestApi,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import type { Domain } from '../definitions/stages.ts'

/** The name that the API has, and its entry where the zone is ours. */
export const defineCustomDomain = (stack: Stack, domain: Domain, api: RestApi): void => {
  const named = new DomainName(stack, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
    mapping: api as IRestApi,
  })
  if (!domain.zone) return
  const zone = HostedZone.fromHostedZoneAttributes(stack, 'Zone', {
    hostedZoneId: domain.zone.id,
    zoneName: domain.zone.name,
  })
  const entry = {
    zone,
    recordName: domain.name,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(named)),
  }
  new ARecord(stack, 'DomainEntry', entry)
  new AaaaRecord(stack, 'DomainEntry6', entry)
}

/** Where the API answers: under its own name, or under the gateway's. */
export const ownHost = (stack: Stack, domain: Domain | undefined, api: RestApi): string =>
  domain?.name ?? `${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`
