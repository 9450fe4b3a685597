import type { Stack } from 'aws-cdk-lib'
import * as gateway from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import type { Domain } from '../definitions/stages.ts'

export const defineCustomDomain = (stack: Stack, domain: Domain, api: gateway.RestApi): void => {
  const domainName = new gateway.DomainName(stack, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    endpointType: gateway.EndpointType.REGIONAL,
    securityPolicy: gateway.SecurityPolicy.TLS_1_2,
    mapping: api as gateway.IRestApi,
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

export const ownHost = (stack: Stack, domain: Domain | undefined, api: gateway.RestApi): string =>
  domain?.name ?? `${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`
