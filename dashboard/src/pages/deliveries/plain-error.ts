/** An error of an attempt that nothing answered, in the words of somebody who runs a website. */
export type PlainError = {
  /** For a cell of a list. */
  short: string;
  /** What happened, to end a sentence with. */
  sentence: string;
  /** What to do about it; null if nobody can say. */
  advice: string | null;
};

type Rule = PlainError & { pattern: RegExp };

/** By the code that the error begins with, else by its words. The first that fits counts. */
const RULES: readonly Rule[] = [
  {
    pattern: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of your site is self-signed, so nothing was sent',
    advice: 'Install a certificate of a public authority, such as Let’s Encrypt.',
  },
  {
    pattern: /^CERT_HAS_EXPIRED/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of your site has expired, so nothing was sent',
    advice: 'Renew the certificate.',
  },
  {
    pattern: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of your site is for another host name, so nothing was sent',
    advice: 'Install a certificate for the host name of the webhook URL.',
  },
  {
    pattern: /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT\w*|CERT_\w+)/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of your site can’t be verified, so nothing was sent',
    advice: 'Install the full chain: the certificate and those of its issuers.',
  },
  {
    pattern: /^(ERR_SSL_\w+|EPROTO)/,
    short: 'TLS failed',
    sentence: 'no TLS connection could be made',
    advice: 'Check that the port of the webhook URL speaks https.',
  },
  {
    pattern: /^ENOTFOUND/,
    short: 'Unknown host',
    sentence: 'the host name of the webhook URL does not exist',
    advice: 'Check the URL, and the DNS entry of the host.',
  },
  {
    pattern: /^(EAI_AGAIN|ENODATA|ESERVFAIL|ETIMEOUT)/,
    short: 'DNS failed',
    sentence: 'the host name of the webhook URL could not be looked up',
    advice: 'Check the name servers of the host.',
  },
  {
    pattern: /^ECONNREFUSED/,
    short: 'Refused',
    sentence: 'nothing listens at the address of the webhook URL',
    advice: 'Start the receiver, and check host, port and firewall.',
  },
  {
    pattern: /^ERR_FORBIDDEN_ADDRESS/,
    short: 'Private address',
    sentence: 'the host name leads to a private or reserved address, to which nothing is sent',
    advice: 'Use a host that can be reached from the internet.',
  },
  {
    pattern: /^ERR_PLAIN_PROTOCOL/,
    short: 'Not https',
    sentence: 'webhooks are sent to https:// only',
    advice: 'Set a URL that begins with https://.',
  },
  {
    pattern: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)/,
    short: 'Unreachable',
    sentence: 'your site can’t be reached',
    advice: 'Check that it is up, and that its firewall lets the service in.',
  },
  {
    pattern: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/,
    short: 'Cut off',
    sentence: 'your site closed the connection without an answer',
    advice: 'Look for a crash or a limit in the log of your site.',
  },
  {
    pattern: /^(no complete response|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)/,
    short: 'Too slow',
    sentence: 'your site did not answer in time',
    advice: 'Answer 200 at once, within 10 seconds, and do the work afterwards.',
  },
];

export function plainError(error: string): PlainError {
  const rule = RULES.find(({ pattern }) => pattern.test(error));
  return rule ?? { short: 'No answer', sentence: error, advice: null };
}
