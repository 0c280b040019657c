import { familiesOf } from './family.js'

const host = '<lower:4-8>.<lower:5-9>.internal'

const databases = familiesOf('connection', 'address', {
  'postgres-url': [
    `postgres://<lower:4-8>:{userinfo:12-24}@${host}:5432/<lower:5>`,
    'database url',
    'postgres url',
  ],
  'postgresql-url': [
    `postgresql://<lower:4-8>:{base62:16-32}@${host}/<lower:5>?sslmode=require`,
    'db dsn',
    'pg uri',
  ],
  'mysql-url': [`mysql://root:{userinfo:10-20}@${host}:3306/<lower:5>`, 'mysql url', 'database url'],
  'mongodb-url': [
    'mongodb+srv://<lower:4-8>:{base62:12-20}@cluster0.<base36:5>.mongodb.net/<lower:5>',
    'mongodb uri',
    'mongo url',
  ],
  'redis-url': [`rediss://default:{base62:32-44}@${host}:6379/0`, 'redis url', 'cache url'],
  'amqp-url': [`amqps://<lower:6>:{url:24-32}@${host}/<lower:6>`, 'rabbitmq url', 'broker url'],
  'ldap-url': [`ldaps://cn=admin:{base62:14}@${host}:636`, 'ldap url'],
  'smtp-url': [`smtps://apikey:{base62:24}@${host}:465`, 'smtp url', 'mailer dsn'],
  'ftp-url': [`ftp://<lower:6>:{userinfo:12}@${host}/pub`, 'ftp url', 'upload url'],
  'jdbc-url': [`jdbc:postgresql://${host}:5432/<lower:5>?user=<lower:5>&password={base62:16}`, 'jdbc url'],
  'sqlserver-connection': [
    [
      `Server=tcp:${host},1433;Database=<lower:5>;User ID=<lower:5>;Password={userinfo:16};Encrypt=True;`,
      `Data Source=${host};Initial Catalog=<lower:5>;uid=<lower:5>;pwd={userinfo:14};`,
    ],
    'sql connection string',
    'db connection',
  ],
  'azure-storage-connection': [
    'DefaultEndpointsProtocol=https;AccountName=<lower:8>;AccountKey={base64:86}==;EndpointSuffix=core.windows.net',
    'azure storage connection string',
  ],
  'azure-servicebus-connection': [
    'Endpoint=sb://<lower:8>.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={base64:43}=',
    'servicebus connection string',
  ],
})

const links = familiesOf('address', 'address', {
  'basic-auth-url': [`https://<lower:4-8>:{base62:16-24}@${host}/api`, 'api url', 'proxy url'],
  'git-remote-url': [
    [
      'https://oauth2:glpat-{url:20}@gitlab.com/<lower:5>/<lower:6>.git',
      'https://<lower:6>:ghp_{base62:36}@github.com/<lower:5>/<lower:6>.git',
    ],
    'git remote url',
    'repo url',
  ],
  'sentry-dsn-secret': ['https://<hex:32>:{hex:32}@sentry.<lower:6>.io/<digits:3>', 'sentry dsn'],
  'slack-webhook': [
    'https://hooks.slack.com/services/T<BASE36:10>/B<BASE36:10>/{base62:24}',
    'slack webhook url',
  ],
  'discord-webhook': ['https://discord.com/api/webhooks/<digits:19>/{url:68}', 'discord webhook url'],
  'teams-webhook': [
    'https://<lower:6>.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/{hex:32}/<uuid>',
    'teams webhook url',
  ],
  'google-chat-webhook': [
    'https://chat.googleapis.com/v1/spaces/<base62:11>/messages?key=AIza{url:35}&token={url:43}',
    'google chat webhook',
  ],
  'vendor-webhook': [
    [
      'https://hooks.<lower:6>.io/in/{base62:32}',
      'https://<lower:6>.app/webhook/{uuid}',
      'https://hook.eu1.<lower:6>.com/{base36:32}',
    ],
    'vendor webhook url',
    'alert webhook',
  ],
  'azure-sas-url': [
    'https://<lower:8>.blob.core.windows.net/<lower:5>?sv=2022-11-02&sr=c&sp=rl&se=2030-01-01&sig={base62:43}%3D',
    'azure sas url',
    'blob url',
  ],
  's3-signed-url': [
    'https://<lower:8>.s3.amazonaws.com/<lower:6>.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA<base32:16>&X-Amz-Signature={hex:64}',
    'download url',
    's3 url',
  ],
})

export const addresses = [...databases, ...links]
