/** An error of an attempt that nothing answered, in the words of somebody who runs a website. */
export type PlainError = {
  /** For a cell of a list. */
  short: string;
  /** What happened, to end a sentence with. */
  sentence: string;
  /** What to do about it; null if nobody can say. */
  advice: string | null;
  /** False if no connection came about, so that nothing was sent; null if nobody can say. */
  isSent: boolean | null;
};

type Rule = PlainError & { pattern: RegExp };

/** By the code that the error begins with, else by its words. The first that fits counts. */
const RULES: readonly Rule[] = [
  {
    pattern: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of the website is self-signed, so nothing was sent',
    advice: 'Install a certificate of a public authority, such as Let’s Encrypt.',
    isSent: false,
  },
  {
    pattern: /^CERT_HAS_EXPIRED/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of the website has expired, so nothing was sent',
    advice: 'Renew the certificate.',
    isSent: false,
  },
  {
    pattern: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of the website is for another host name, so nothing was sent',
    advice: 'Install a certificate for the host name of the webhook URL.',
    isSent: false,
  },
  {
    pattern: /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT\w*|CERT_\w+)/,
    short: 'TLS certificate',
    sentence: 'the TLS certificate of the website can’t be verified, so nothing was sent',
    advice: 'Install the full chain: the certificate and those of its issuers.',
    isSent: false,
  },
  {
    pattern: /^(ERR_SSL_\w+|EPROTO)/,
    short: 'TLS failed',
    sentence: 'no TLS connection could be made',
    advice: 'Check that the port of the webhook URL speaks https.',
    isSent: false,
  },
  {
    pattern: /^ENOTFOUND/,
    short: 'Unknown host',
    sentence: 'the host name of the webhook URL does not exist',
    advice: 'Check the URL, and the DNS entry of the host.',
    isSent: false,
  },
  {
    pattern: /^(EAI_AGAIN|ENODATA|ESERVFAIL|ETIMEOUT|ERR_DNS_THREAD|ERR_TOO_MANY_LOOKUPS)/,
    short: 'DNS failed',
    sentence: 'the host name of the webhook URL could not be looked up',
    advice: 'Check the name servers of the host.',
    isSent: false,
  },
  {
    pattern: /^ECONNREFUSED/,
    short: 'Refused',
    sentence: 'nothing listens at the address of the webhook URL',
    advice: 'Start the receiver, and check host, port and firewall.',
    isSent: false,
  },
  {
    pattern: /^ERR_FORBIDDEN_ADDRESS/,
    short: 'Private address',
    sentence: 'the host name leads to a private or reserved address, to which nothing is sent',
    advice: 'Use a host that can be reached from the internet.',
    isSent: false,
  },
  {
    pattern: /^ERR_PLAIN_PROTOCOL/,
    short: 'Not https',
    sentence: 'webhooks are sent to https:// only',
    advice: 'Set a URL that begins with https://.',
    isSent: false,
  },
  {
    pattern: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)/,
    short: 'Unreachable',
    sentence: 'the website can’t be reached',
    advice: 'Check that it is up, and that its firewall lets the service in.',
    isSent: false,
  },
  {
    pattern: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/,
    short: 'Cut off',
    sentence: 'the website closed the connection without an answer',
    advice: 'Look for a crash or a limit in the log of the website.',
    isSent: true,
  },
  {
    pattern: /^(no complete response|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)/,
    short: 'Too slow',
    sentence: 'the website did not answer in time',
    advice: 'Answer 200 at once, within 10 seconds, and do the work afterwards.',
    isSent: true,
  },
];

/** What Node.js advises its own operator, who is not the reader. */
const NODE_HINT = /; try running Node\.js with .*$/;

export function plainError(error: string): PlainError {
  const rule = RULES.find(({ pattern }) => pattern.test(error));
  return rule ?? { short: 'No answer', sentence: shownError(error), advice: null, isSent: null };
}

/** The error itself, as far as it is about the website. */
export function shownError(error: string): string {
  return error.replace(NODE_HINT, '');
}
