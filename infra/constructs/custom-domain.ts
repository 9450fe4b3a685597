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

export const defineCustomDomain = (stack: Stack, domain: Domain, api: RestApi): void => {
  const domainName = new DomainName(stack, 'Domain', {
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
  const record = {
    zone,
    recordName: domain.name,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  }
  new ARecord(stack, 'DomainEntry', record)
  new AaaaRecord(stack, 'DomainEntry6', record)
}

export const ownHost = (stack: Stack, domain: Domain | undefined, api: RestApi): string =>
  domain?.name ?? `${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`
