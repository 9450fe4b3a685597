import java.lang.reflect.Field;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local for this machine alone: by itself it listens on every interface and takes any Host
 * and Origin. Its own runner reads the options. The class file here is compiled with
 * `javac --release 17 -g:none`, as a Java without a compiler must be enough.
 */
public final class LocalDynamoDb extends Handler.Wrapper {
  private static final Pattern LOCAL =
      Pattern.compile("(?:https?://)?(?:127\\.0\\.0\\.1|localhost|\\[::1])(?::[0-9]{1,5})?");

  private LocalDynamoDb(Handler handler) {
    super(handler);
  }

  public static void main(String[] options) throws Exception {
    DynamoDBProxyServer runner = ServerRunner.createServerFromCommandLineArgs(options);
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    Server server = (Server) field.get(runner);
    ((ServerConnector) server.getConnectors()[0]).setHost("127.0.0.1");
    server.setHandler(new LocalDynamoDb(server.getHandler()));
    server.start();
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    HttpFields headers = request.getHeaders();
    if (isLocal(headers.get(HttpHeader.HOST)) && isLocal(headers.get(HttpHeader.ORIGIN))) {
      return super.handle(request, response, callback);
    }
    Response.writeError(request, response, callback, 403);
    return true;
  }

  /** An absent Origin comes from no page; an absent Host is refused by Jetty. */
  private static boolean isLocal(String name) {
    return name == null || LOCAL.matcher(name).matches();
  }
}
